// One row per level: a bar for each event, and a mark for its kind at its start.
const BAR = 12, MIN_MARK_DISTANCE = 13; // height of a bar; marks closer than this become ticks
const MIN_BAR_WIDTH = 3; // narrower bars are left out
const MIDDLE = 12; // of bars and marks, within the row's drawing
const TICKS = {
  expected: [["ce", -9]],
  unexpected: [["cu", 9]],
  both: [["both", -9], ["both", 9]],
  clock: [["clock", -5], ["clock", 5]],
};

const rows = [...document.querySelectorAll(".row")].map((node) => ({
  node,
  level: Number(node.dataset.level),
  svg: node.querySelector("svg"),
  pictures: node.querySelector(".pictures"),
}));

function drawRow({ node, level, svg }) {
  const list = eventsOf.get(level);
  const first = Math.max(0, countUpTo(list, view.from, (event) => event.time) - 2);
  const last = Math.min(list.length, countUpTo(list, view.to, (event) => event.time) + 1);
  svg.innerHTML = bars(list, first, last) + marks(list, first, last);
  node.classList.toggle("current", level === state.level);
}

// A bar from the start of each event to the next; the first one starts with the video.
function bars(list, first, last) {
  let drawn = "";
  for (let i = first - 1; i < last; i++) {
    const from = i < 0 ? START : list[i].time, to = i + 1 < list.length ? list[i + 1].time : START + DURATION;
    const left = Math.max(-20, xOf(from) + 1), right = Math.min(view.width + 20, xOf(to) - 1);
    if (right - left < MIN_BAR_WIDTH) continue;
    const selected = i >= 0 && list[i] === state.event ? " selected" : "";
    drawn += `<rect class="event${selected}" x="${left.toFixed(1)}" y="${MIDDLE - BAR / 2}" width="${(right - left).toFixed(1)}" height="${BAR}" rx="${Math.min(6, (right - left) / 2).toFixed(1)}"/>`;
  }
  return drawn;
}

// A mark where there is room on both sides, otherwise a tick, or part of a bar if even ticks would touch. Ticks of
// expected events point up and of unexpected ones down, so that they differ without colours.
function marks(list, first, last) {
  const at = (i) => (i in list ? xOf(middleOf(list[i].frame)) : i < 0 ? -Infinity : Infinity);
  const close = [];
  let drawn = "", selected = "";
  for (let i = first; i < last; i++) {
    const x = at(i), { kind } = list[i];
    const whole = `<use href="#${kind}" x="${(x - 9).toFixed(1)}" y="${MIDDLE - 9}" width="18" height="18"/>`;
    if (list[i] === state.event) selected = `<circle class="halo" cx="${x.toFixed(1)}" cy="${MIDDLE}" r="11"/>${whole}`;
    else if (Math.min(x - at(i - 1), at(i + 1) - x) >= MIN_MARK_DISTANCE) drawn += whole;
    else close.push([x, TICKS[kind]]);
  }
  return density(close) + drawn + selected;
}

drawings.push(() => rows.forEach(drawRow));
