// The visible part of the video, and its mapping to screen coordinates.
const ruler = document.getElementById("ruler");
const DURATION = END - START || 1;
const MIN_SPAN = Math.min(DURATION, (16 * DURATION) / Math.max(timeline.frames, 1)); // 16 frames
const view = { from: START, to: START + DURATION, width: 1 };

const span = () => view.to - view.from;
const isWhole = () => span() >= DURATION * 0.9999;
const xOf = (time) => ((time - view.from) / span()) * view.width;
const timeAt = (x) => view.from + (x / view.width) * span();
const middleOf = (frame) => (timeOf(frame) + timeOf(frame + 1)) / 2;

function show(from, length) {
  const kept = Math.max(MIN_SPAN, Math.min(DURATION, length));
  view.from = Math.max(START, Math.min(START + DURATION - kept, from));
  view.to = view.from + kept;
  refresh();
}

const pan = (seconds) => show(view.from + seconds, span());

// Keeps the position of `time` on the screen.
function zoom(factor, time = (view.from + view.to) / 2) {
  const length = Math.max(MIN_SPAN, Math.min(DURATION, span() * factor));
  show(time - ((time - view.from) / span()) * length, length);
}

function ensureVisible(time) {
  const margin = span() * 0.06;
  if (time < view.from + margin || time > view.to - margin) show(time - span() / 2, span());
}

// Redraws at most once per animation frame.
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
