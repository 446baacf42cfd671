// The data of the page, decoded.
const timeline = JSON.parse(document.getElementById("data").textContent);

function decodeBase64(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

const events = timeline.events.map(([frame, exact, level, kind, st, ch, threshold, fit, surprise, probability], index) => {
  const [above, below = 1] = exact.split("/");
  return { index, frame, exact, time: above / below, level, kind, st, ch, threshold, fit, surprise, probability };
});
const LEVELS = Array.from({ length: Math.max(0, timeline.levels - 1) }, (_, i) => i + 2);
const allOf = new Map(LEVELS.map((level) => [level, events.filter((event) => event.level === level)]));
const eventsOf = new Map(allOf); // those that the slider shows
let shownEvents = events;

// Times to interpolate linearly: knot i is the start of frame i · stride, the last knot is the end.
const knots = Float64Array.from(new Float32Array(decodeBase64(timeline.times.knots)), (t) => t + timeline.times.start);
const START = knots[0], END = knots[knots.length - 1];
const knotFrame = (i) => Math.min(i * timeline.times.stride, timeline.frames);

function timeOf(frame) {
  const i = Math.min(Math.floor(frame / timeline.times.stride), knots.length - 2);
  const share = (frame - knotFrame(i)) / (knotFrame(i + 1) - knotFrame(i) || 1);
  return knots[i] + share * (knots[i + 1] - knots[i]);
}

// A fractional frame: 7.5 is the middle of frame 7.
function frameAt(time) {
  const i = Math.max(0, Math.min(countUpTo(knots, time, (knot) => knot) - 1, knots.length - 2));
  const share = (time - knots[i]) / (knots[i + 1] - knots[i] || 1);
  return knotFrame(i) + share * (knotFrame(i + 1) - knotFrame(i));
}

// The number of items of a sorted list that are at or before a value.
function countUpTo(list, value, key) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The event of a level at a frame; undefined before its first event.
function eventAt(level, frame) {
  const list = eventsOf.get(level);
  return list[countUpTo(list, frame, (event) => event.frame) - 1];
}

const framesWithPicture = Object.keys(timeline.pictures).map(Number).sort((a, b) => a - b);
const pictureOf = (frame) => `data:image/jpeg;base64,${timeline.pictures[frame]}`;
const lastPicture = (frame) => framesWithPicture[countUpTo(framesWithPicture, frame, (each) => each) - 1];
