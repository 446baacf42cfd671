// D_st, D_ch and the threshold of the chosen level on a log scale.
const plot = document.getElementById("curves");
const HIGH = 170, MARGIN = 12;
const NAMES = ["st", "ch", "cu"];
const unpackedCurves = new Map();

// For each curve a pyramid of [least, greatest]: of each bin, of each two bins, of each four …
function curvesOf(level) {
  if (!unpackedCurves.has(level) && level in given.curves) {
    const values = new Uint16Array(unpacked(given.curves[level].values));
    const bins = Math.ceil(given.frames / given.stride), each = values.length / 3;
    const pyramids = NAMES.map((_, i) => {
      const own = values.subarray(i * each, (i + 1) * each);
      const floors = [[own.subarray(0, bins), own.subarray(each - bins)]];
      while (floors[floors.length - 1][0].length > 256) floors.push(halved(...floors[floors.length - 1]));
      return floors;
    });
    unpackedCurves.set(level, pyramids);
  }
  return unpackedCurves.get(level);
}

// 0 is no value.
function halved(least, greatest) {
  const low = new Uint16Array(Math.ceil(least.length / 2)), high = new Uint16Array(low.length);
  for (let i = 0; i < low.length; i++) {
    const a = least[2 * i], b = least[2 * i + 1] ?? 0;
    low[i] = a && b ? Math.min(a, b) : a || b;
    high[i] = Math.max(greatest[2 * i], greatest[2 * i + 1] ?? 0);
  }
  return [low, high];
}

const logOf = (scale, value) => scale.low + ((value - 1) / 65534) * (scale.high - scale.low);
function heightOf(scale, log) {
  const share = (Math.max(log, scale.floor) - scale.floor) / (scale.high - scale.floor || 1);
  return HIGH - MARGIN - share * (HIGH - 2 * MARGIN);
}

function drawCurves() {
  const scale = given.curves[state.level], pyramids = curvesOf(state.level);
  if (!pyramids) {
    plot.innerHTML = `<text x="12" y="${HIGH / 2}" class="silence">no curves were kept for this level</text>`;
    return;
  }
  const perPixel = (frameAt(view.to) - frameAt(view.from)) / given.stride / view.width;
  const floor = Math.max(0, Math.min(Math.ceil(Math.log2(perPixel)), pyramids[0].length - 1));
  const parts = NAMES.map((name, i) => curve(pyramids[i][floor], given.stride * 2 ** floor, scale, name));
  const drawn = parts.map(({ range }) => range).join("") + [1, 0, 2].map((i) => parts[i].lines).join("");
  const silence = `<text x="60" y="${HIGH / 2}" class="silence">no signal arrived at this level</text>`;
  plot.innerHTML = bands() + grid(scale) + (drawn || silence) + axis(scale);
}

// One value a frame is a line. Several are their range, and a line on the side that decides.
// Where the signal did not arrive the line is thin; a value between two such gaps is a dot.
function curve(floor, stride, scale, name) {
  const runs = unbroken(floor, stride, scale);
  const side = name === "ch" ? "least" : "greatest";
  const path = (points, key) => points.map((point, i) => `${i ? "L" : "M"}${point.x} ${point[key]}`).join("");
  const line = runs.map((run) => path(run, side)).join("");
  const gaps = runs.slice(1).map((run, i) => path([runs[i].at(-1), run[0]], side)).join("");
  const dots = runs.filter((run) => run.length === 1).map((run) => path(run, side) + "h0").join("");
  const range = (run) => path(run, "greatest") + path(run.toReversed(), "least").replace("M", "L") + "z";
  const drawn = (what, d) => d && `<path class="${what} ${name}" d="${d}"/>`;
  return {
    range: drawn("range", stride > 1 && name !== "cu" ? runs.map(range).join("") : ""),
    lines: drawn("bridge", gaps) + drawn("curve", line) + drawn("dots", dots),
  };
}

// What is in sight as stretches of points without a gap: x in the middle of each bin, least and greatest as y.
function unbroken([least, greatest], stride, scale) {
  const first = Math.max(0, Math.floor(frameAt(view.from) / stride) - 1);
  const last = Math.min(least.length - 1, Math.ceil(frameAt(view.to) / stride) + 1);
  const y = (value) => heightOf(scale, logOf(scale, value)).toFixed(1);
  const runs = [];
  for (let i = first; i <= last; i++) {
    if (!least[i]) continue;
    if (i === first || !least[i - 1]) runs.push([]);
    const middle = (timeOf(i * stride) + timeOf(Math.min((i + 1) * stride, given.frames))) / 2;
    runs.at(-1).push({ x: xOf(middle).toFixed(1), least: y(least[i]), greatest: y(greatest[i]) });
  }
  return runs;
}

// A tinted column wherever the level updated, while columns can be told apart.
function bands() {
  const list = eventsOf.get(state.level), width = (view.width / span()) * (WHOLE / given.frames);
  if (width < 2) return "";
  const first = after(list, view.from - WHOLE / given.frames, (event) => event.time);
  let drawn = "";
  for (let i = first; i < list.length && list[i].time < view.to; i++) {
    const left = xOf(timeOf(list[i].frame)), right = xOf(timeOf(list[i].frame + 1));
    drawn += `<rect class="band ${HALVES[list[i].kind][0][0]}" x="${left.toFixed(1)}" y="0" width="${(right - left).toFixed(1)}" height="${HIGH}"/>`;
  }
  return drawn;
}

const tickHeight = (scale, tick) => heightOf(scale, Math.log10(tick)).toFixed(1);
const grid = (scale) => scale.ticks.map((tick) => `<path class="grid" d="M0 ${tickHeight(scale, tick)}h${view.width}"/>`).join("");
const axis = (scale) => scale.ticks.map((tick) => `<text x="4" y="${tickHeight(scale, tick)}" dy="4">${number(tick)}</text>`).join("");

// What was compared at a frame, from least to greatest where several share a bin; null where nothing was.
function valuesAt(level, frame) {
  const bin = Math.floor(frame / given.stride), scale = given.curves[level];
  return (curvesOf(level) ?? []).map(([[least, greatest]]) =>
    least[bin] ? [least[bin], greatest[bin]].map((value) => 10 ** logOf(scale, value)) : null);
}

drawings.push(drawCurves);
listeners.push(() => {
  document.getElementById("level").textContent = state.level ? `level ${state.level}` : "";
  plot.setAttribute("aria-label", `Level ${state.level}: D_st, D_ch and the threshold of CU over time, log scale; values on hover`);
});
