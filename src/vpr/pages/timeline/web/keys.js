// Actions, and the buttons and keys that trigger them.
const help = document.getElementById("help");
const selectIfAny = (event) => event && selectEvent(event);
const actions = {
  previous: () => step(-1),
  next: () => step(1),
  first: () => selectIfAny(eventsOf.get(state.level)?.[0]),
  last: () => selectIfAny(eventsOf.get(state.level)?.at(-1)),
  in: () => zoomAtEvent(0.5),
  out: () => zoomAtEvent(2),
  whole: () => show(START, DURATION),
  earlier: () => pan(-span() / 3),
  later: () => pan(span() / 3),
  higher: () => selectLevel(state.level + 1),
  lower: () => selectLevel(state.level - 1),
  theme: () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; },
  help: () => (help.open ? help.close() : help.showModal()),
};
const KEYS = [
  ["← →", "previous event, next event", { ArrowLeft: "previous", ArrowRight: "next" }],
  ["Home End", "first event, last event", { Home: "first", End: "last" }],
  ["↑ ↓", "level above, level below", { ArrowUp: "higher", ArrowDown: "lower" }],
  ["1 … 9", "select this level", {}],
  ["+ −", "zoom in, zoom out", { "+": "in", "=": "in", "-": "out", "−": "out" }],
  ["0", "show the whole video", { 0: "whole" }],
  ["⇧ ← →", "move along the video", {}],
  ["T", "light or dark theme", { t: "theme", T: "theme" }],
  ["?", "show all keys", { "?": "help" }],
];
const bound = Object.assign({}, ...KEYS.map(([, , keys]) => keys));
const shifted = { ArrowLeft: "earlier", ArrowRight: "later" };

// Zooms around the selected event if it is visible, otherwise around the centre.
function zoomAtEvent(factor) {
  const time = state.event?.time, isVisible = time >= view.from && time <= view.to;
  zoom(factor, isVisible ? time : undefined);
  if (isVisible) ensureVisible(time);
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

help.querySelector("dl").innerHTML = KEYS.map(([keys, does]) => `<dt>${keys}</dt><dd>${does}</dd>`).join("");
for (const button of document.querySelectorAll("[data-do]"))
  button.addEventListener("click", () => actions[button.dataset.do]());
for (const button of document.querySelectorAll("button.level"))
  button.addEventListener("click", () => selectLevel(Number(button.dataset.level)));

document.addEventListener("keydown", (event) => {
  const elsewhere = event.target.closest?.("input, select, video, textarea");
  if (elsewhere || event.ctrlKey || event.metaKey || event.altKey || (help.open && event.key !== "?")) return;
  if (event.key === "Escape") hideTip();
  const level = Number(event.key);
  const action = (event.shiftKey && shifted[event.key]) || bound[event.key];
  if (action) actions[action]();
  else if (level >= 1 && level <= 9) selectLevel(level);
  else return;
  event.preventDefault();
});
