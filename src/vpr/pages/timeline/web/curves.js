// D_st, D_ch and the threshold of the selected level on a log scale.
const plot = document.getElementById("curves");
const HEIGHT = 170, MARGIN = 12;
const NAMES = ["st", "ch", "cu"];
const curveCache = new Map();

// For each curve a pyramid of [minimum, maximum]: of each bin, of 2 bins, of 4 bins, …
function curvesOf(level) {
  if (!curveCache.has(level) && level in timeline.curves) {
    const values = new Uint16Array(decodeBase64(timeline.curves[level].values));
    const bins = Math.ceil(timeline.frames / timeline.stride), each = values.length / 3;
    const pyramids = NAMES.map((_, i) => {
      const own = values.subarray(i * each, (i + 1) * each);
      const floors = [[own.subarray(0, bins), own.subarray(each - bins)]];
      while (floors[floors.length - 1][0].length > 256) floors.push(halved(...floors[floors.length - 1]));
      return floors;
    });
    curveCache.set(level, pyramids);
  }
  return curveCache.get(level);
}

// Merges pairs of bins; 0 means no value.
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
  return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN);
}

function drawCurves() {
  const scale = timeline.curves[state.level], pyramids = curvesOf(state.level);
  if (!pyramids) {
    plot.innerHTML = `<text x="12" y="${HEIGHT / 2}" class="no-data">there are no curves for this level</text>`;
    return;
  }
  const perPixel = (frameAt(view.to) - frameAt(view.from)) / timeline.stride / view.width;
  const floor = Math.max(0, Math.min(Math.ceil(Math.log2(perPixel)), pyramids[0].length - 1));
  const parts = NAMES.map((name, i) => curve(pyramids[i][floor], timeline.stride * 2 ** floor, scale, name));
  const drawn = parts.map(({ range }) => range).join("") + [1, 0, 2].map((i) => parts[i].lines).join("");
  const placeholder = `<text x="60" y="${HEIGHT / 2}" class="no-data">this level was never evaluated</text>`;
  plot.innerHTML = bands() + grid(scale) + (drawn || placeholder) + axis(scale);
}

// One value per frame is drawn as a line; several as their range, with a line at the maximum (D_ch: the minimum).
// The line is thin where the level was not evaluated; a single value between two such gaps is a dot.
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

// The visible points as runs without a gap: x is the middle of each bin, least and greatest are y coordinates.
function unbroken([least, greatest], stride, scale) {
  const first = Math.max(0, Math.floor(frameAt(view.from) / stride) - 1);
  const last = Math.min(least.length - 1, Math.ceil(frameAt(view.to) / stride) + 1);
  const y = (value) => heightOf(scale, logOf(scale, value)).toFixed(1);
  const runs = [];
  for (let i = first; i <= last; i++) {
    if (!least[i]) continue;
    if (i === first || !least[i - 1]) runs.push([]);
    const middle = (timeOf(i * stride) + timeOf(Math.min((i + 1) * stride, timeline.frames))) / 2;
    runs.at(-1).push({ x: xOf(middle).toFixed(1), least: y(least[i]), greatest: y(greatest[i]) });
  }
  return runs;
}

// A tinted column at each update of the level, if columns are at least 2 pixels wide.
function bands() {
  const list = eventsOf.get(state.level), width = (view.width / span()) * (DURATION / timeline.frames);
  if (width < 2) return "";
  const first = countUpTo(list, view.from - DURATION / timeline.frames, (event) => event.time);
  let drawn = "";
  for (let i = first; i < list.length && list[i].time < view.to; i++) {
    const left = xOf(timeOf(list[i].frame)), right = xOf(timeOf(list[i].frame + 1));
    drawn += `<rect class="band ${TICKS[list[i].kind][0][0]}" x="${left.toFixed(1)}" y="0" width="${(right - left).toFixed(1)}" height="${HEIGHT}"/>`;
  }
  return drawn;
}

const tickHeight = (scale, tick) => heightOf(scale, Math.log10(tick)).toFixed(1);
const grid = (scale) => scale.ticks.map((tick) => `<path class="grid" d="M0 ${tickHeight(scale, tick)}h${view.width}"/>`).join("");
const axis = (scale) => scale.ticks.map((tick) => `<text x="4" y="${tickHeight(scale, tick)}" dy="4">${number(tick)}</text>`).join("");

// [minimum, maximum] of the values in the bin of a frame; null where the level was not evaluated.
function valuesAt(level, frame) {
  const bin = Math.floor(frame / timeline.stride), scale = timeline.curves[level];
  return (curvesOf(level) ?? []).map(([[least, greatest]]) =>
    least[bin] ? [least[bin], greatest[bin]].map((value) => 10 ** logOf(scale, value)) : null);
}

drawings.push(drawCurves);
listeners.push(() => {
  document.getElementById("level").textContent = state.level ? `level ${state.level}` : "";
  plot.setAttribute("aria-label", `Level ${state.level}: D_st, D_ch and the threshold of CU over time, log scale; values on hover`);
});
