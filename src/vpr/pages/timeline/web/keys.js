// What can be done, from buttons and from keys.
const help = document.getElementById("help");
const ends = (event) => event && choose(event);
const actions = {
  previous: () => step(-1),
  next: () => step(1),
  first: () => ends(eventsOf.get(state.level)?.[0]),
  last: () => ends(eventsOf.get(state.level)?.at(-1)),
  in: () => zoomAtEvent(0.5),
  out: () => zoomAtEvent(2),
  whole: () => show(START, WHOLE),
  earlier: () => pan(-span() / 3),
  later: () => pan(span() / 3),
  higher: () => chooseLevel(state.level + 1),
  lower: () => chooseLevel(state.level - 1),
  theme: () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; },
  help: () => (help.open ? help.close() : help.showModal()),
};
const KEYS = [
  ["← →", "the event before, the event after", { ArrowLeft: "previous", ArrowRight: "next" }],
  ["Home End", "the first event, the last", { Home: "first", End: "last" }],
  ["↑ ↓", "the level above, the level below", { ArrowUp: "higher", ArrowDown: "lower" }],
  ["1 … 9", "that level", {}],
  ["+ −", "closer, further away", { "+": "in", "=": "in", "-": "out", "−": "out" }],
  ["0", "the whole video", { 0: "whole" }],
  ["⇧ ← →", "move along the video", {}],
  ["T", "light or dark", { t: "theme", T: "theme" }],
  ["?", "these keys", { "?": "help" }],
];
const bound = Object.assign({}, ...KEYS.map(([, , keys]) => keys));
const shifted = { ArrowLeft: "earlier", ArrowRight: "later" };

// Around the chosen event while it is in sight, so that it stays there.
function zoomAtEvent(factor) {
  const time = state.event?.time, inSight = time >= view.from && time <= view.to;
  zoom(factor, inSight ? time : undefined);
  if (inSight) bringIntoSight(time);
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

help.querySelector("dl").innerHTML = KEYS.map(([keys, does]) => `<dt>${keys}</dt><dd>${does}</dd>`).join("");
for (const button of document.querySelectorAll("[data-do]"))
  button.addEventListener("click", () => actions[button.dataset.do]());
for (const button of document.querySelectorAll("button.level"))
  button.addEventListener("click", () => chooseLevel(Number(button.dataset.level)));

document.addEventListener("keydown", (event) => {
  const elsewhere = event.target.closest?.("input, select, video, textarea");
  if (elsewhere || event.ctrlKey || event.metaKey || event.altKey || (help.open && event.key !== "?")) return;
  if (event.key === "Escape") unpoint();
  const level = Number(event.key);
  const action = (event.shiftKey && shifted[event.key]) || bound[event.key];
  if (action) actions[action]();
  else if (level >= 1 && level <= 9) chooseLevel(level);
  else return;
  event.preventDefault();
});
