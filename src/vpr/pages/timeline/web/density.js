// Events that are too close together for separate marks: ticks, or bars if many ticks would touch.
const TICK = 3, BIN = 8; // pixels that a tick needs, and of a bar

// `places` are pairs of x and a list of [name, half height]; a half height below 0 points up.
function density(places) {
  const apart = new Set(places.map(([x]) => Math.floor(x / TICK))).size;
  return apart < 0.8 * places.length ? binned(places) : drawnTicks(places, "");
}

// A bar for each bin, with its kinds stacked. Its height is the number of events, relative to the fullest bin.
function binned(places) {
  const bins = new Map(); // bin → half heights by name and side, with their counts
  for (const [x, halves] of places) {
    const bin = Math.floor(x / BIN);
    if (!bins.has(bin)) bins.set(bin, new Map());
    for (const [name, half] of halves) {
      const key = `${name}${half}`, before = bins.get(bin).get(key);
      bins.get(bin).set(key, [name, half, (before?.[2] ?? 0) + 1]);
    }
  }
  const onSide = (parts, sign) => [...parts.values()].reduce((sum, [, half, count]) => sum + (half * sign > 0 ? count : 0), 0);
  const most = Math.max(...[...bins.values()].flatMap((parts) => [onSide(parts, -1), onSide(parts, 1)]));
  const bars = [...bins].map(([bin, parts]) => [
    (bin + 0.5) * BIN,
    [...parts.values()].sort().map(([name, half, count]) => [name, (half * count) / most]),
  ]);
  return drawnTicks(bars, " dense");
}

// One path for each name; lines at the same place and side continue each other.
function drawnTicks(places, kind) {
  const paths = {};
  for (const [x, halves] of places) {
    let up = MIDDLE, down = MIDDLE;
    for (const [name, half] of halves) {
      paths[name] = (paths[name] ?? "") + `M${x.toFixed(1)} ${(half < 0 ? up : down).toFixed(1)}v${half.toFixed(1)}`;
      if (half < 0) up += half;
      else down += half;
    }
  }
  return Object.entries(paths).map(([name, path]) => `<path class="tick-mark${kind} ${name}" d="${path}"/>`).join("");
}
