// What the page was given, unpacked.
const given = JSON.parse(document.getElementById("data").textContent);

function unpacked(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

const events = given.events.map(([frame, exact, level, kind, st, ch, threshold, fit, surprise], index) => {
  const [above, below = 1] = exact.split("/");
  return { index, frame, exact, time: above / below, level, kind, st, ch, threshold, fit, surprise };
});
const LEVELS = Array.from({ length: Math.max(0, given.levels - 1) }, (_, i) => i + 2);
const eventsOf = new Map(LEVELS.map((level) => [level, events.filter((event) => event.level === level)]));

// Knots of time, straight between them: knot i is the beginning of frame i · stride, the last one the end.
const knots = Float64Array.from(new Float32Array(unpacked(given.times.knots)), (t) => t + given.times.start);
const START = knots[0], END = knots[knots.length - 1];
const knotFrame = (i) => Math.min(i * given.times.stride, given.frames);

function timeOf(frame) {
  const i = Math.min(Math.floor(frame / given.times.stride), knots.length - 2);
  const share = (frame - knotFrame(i)) / (knotFrame(i + 1) - knotFrame(i) || 1);
  return knots[i] + share * (knots[i + 1] - knots[i]);
}

// With a fraction: 7.5 is the middle of frame 7.
function frameAt(time) {
  const i = Math.max(0, Math.min(after(knots, time, (knot) => knot) - 1, knots.length - 2));
  const share = (time - knots[i]) / (knots[i + 1] - knots[i] || 1);
  return knotFrame(i) + share * (knotFrame(i + 1) - knotFrame(i));
}

// How many of a sorted list come at or before a value.
function after(list, value, key) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The event that a level was in at a frame; none before its first.
function eventAt(level, frame) {
  const list = eventsOf.get(level);
  return list[after(list, frame, (event) => event.frame) - 1];
}

const framesWithPicture = Object.keys(given.pictures).map(Number).sort((a, b) => a - b);
const pictureOf = (frame) => `data:image/jpeg;base64,${given.pictures[frame]}`;
const lastPicture = (frame) => framesWithPicture[after(framesWithPicture, frame, (each) => each) - 1];
