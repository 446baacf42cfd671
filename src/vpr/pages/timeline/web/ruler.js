// The time axis at the top, the overview of the whole video at the bottom, and the visible span as text.
const overview = document.getElementById("overview");
const shownSpan = document.getElementById("span");
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000];

function drawRuler() {
  const wanted = (span() / view.width) * 90; // seconds between two numbers
  const step = STEPS.find((each) => each >= wanted) ?? Math.ceil(wanted / 86400) * 86400;
  const digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
  let drawn = "";
  for (let n = Math.ceil(view.from / step - 1e-9); n * step <= view.to; n++) {
    const x = xOf(n * step), edge = x < 16 ? "start" : x > view.width - 16 ? "end" : "middle";
    drawn += `<path class="grid" d="M${x.toFixed(1)} 18v6"/><text x="${x.toFixed(1)}" y="13" text-anchor="${edge}">${clock(n * step, digits)}</text>`;
  }
  ruler.innerHTML = drawn;
  const frames = Math.round(frameAt(view.to)) - Math.floor(frameAt(view.from));
  const fine = span() < 30 ? 2 : 0;
  shownSpan.textContent = `${clock(view.from, fine)} – ${clock(view.to, fine)} · ${counted(frames, "frame")}`;
}

function drawOverview() {
  const places = (eventsOf.get(state.level) ?? []).map((event) => [((event.time - START) / DURATION) * view.width, [["all", -5], ["all", 5]]]);
  const left = ((view.from - START) / DURATION) * view.width, width = Math.max(4, (span() / DURATION) * view.width);
  overview.innerHTML =
    density(places) +
    `<rect class="window" x="${(left + 1).toFixed(1)}" y="2" width="${Math.max(2, width - 2).toFixed(1)}" height="20" rx="5"/>`;
}

drawings.push(drawRuler, drawOverview);
