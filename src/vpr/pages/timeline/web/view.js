// Which part of the video is shown, and where it lies on the screen.
const ruler = document.getElementById("ruler");
const WHOLE = END - START || 1;
const NEAREST = Math.min(WHOLE, (16 * WHOLE) / Math.max(given.frames, 1)); // no closer than 16 frames
const view = { from: START, to: START + WHOLE, width: 1 };

const span = () => view.to - view.from;
const isWhole = () => span() >= WHOLE * 0.9999;
const xOf = (time) => ((time - view.from) / span()) * view.width;
const timeAt = (x) => view.from + (x / view.width) * span();
const middleOf = (frame) => (timeOf(frame) + timeOf(frame + 1)) / 2;

function show(from, length) {
  const kept = Math.max(NEAREST, Math.min(WHOLE, length));
  view.from = Math.max(START, Math.min(START + WHOLE - kept, from));
  view.to = view.from + kept;
  refresh();
}

const pan = (seconds) => show(view.from + seconds, span());

// What is at `time` stays where it is.
function zoom(factor, time = (view.from + view.to) / 2) {
  const length = Math.max(NEAREST, Math.min(WHOLE, span() * factor));
  show(time - ((time - view.from) / span()) * length, length);
}

function bringIntoSight(time) {
  const margin = span() * 0.06;
  if (time < view.from + margin || time > view.to - margin) show(time - span() / 2, span());
}

// Drawn at most once for each picture on the screen.
let waiting = false;
function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    view.width = Math.max(1, ruler.clientWidth);
    for (const draw of drawings) draw();
  });
}
const drawings = [];
