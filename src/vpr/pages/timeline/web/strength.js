// The slider: only events of at least this strength are shown, in rows, table and overview.
const MOST_SHOWN = 60; // events per level at first, so that their marks do not touch
const FEWEST_SHOWN = 5; // events of each level that are shown at first, even if another level then has more
const slider = document.getElementById("strength"), POSITIONS = 1000;
const isCalibrated = events.length > 0 && events.every((event) => event.probability !== null);

// The probability, or ln D_st − ln threshold. An event of a level is also an event of all levels below,
// where it has at least the same strength.
const strongestAt = new Map(); // frame → strength of the levels so far, from the top
for (const event of [...events].sort((a, b) => b.level - a.level)) {
  const own = (isCalibrated ? event.probability : event.surprise) ?? -Infinity;
  event.strength = Math.max(own, strongestAt.get(event.frame) ?? -Infinity);
  strongestAt.set(event.frame, event.strength);
}
const strengths = events.map((event) => event.strength).filter(Number.isFinite);
const WEAKEST = strengths.reduce((a, b) => Math.min(a, b), Infinity);
const STRONGEST = strengths.reduce((a, b) => Math.max(a, b), -Infinity);
const strengthAt = (value) => WEAKEST + (value / POSITIONS) * (STRONGEST - WEAKEST);

// The first position of the slider at which no level has more than MOST_SHOWN events, or the last at which
// every level has FEWEST_SHOWN, or all that it has. Otherwise strong events could hide all events of another level.
function firstPosition() {
  let least = WEAKEST, most = STRONGEST;
  for (const level of LEVELS) {
    const sorted = allOf.get(level).map((event) => event.strength).filter(Number.isFinite).sort((a, b) => b - a);
    if (sorted.length > MOST_SHOWN) least = Math.max(least, sorted[MOST_SHOWN - 1]);
    if (sorted.length) most = Math.min(most, sorted[Math.min(FEWEST_SHOWN, sorted.length) - 1]);
  }
  const share = (Math.min(least, most) - WEAKEST) / (STRONGEST - WEAKEST);
  return Math.floor(share * POSITIONS);
}

function filterEvents(position) {
  const least = position > 0 ? strengthAt(position) : -Infinity;
  shownEvents = events.filter((event) => event.strength >= least - 1e-9);
  for (const level of LEVELS) {
    eventsOf.set(level, shownEvents.filter((event) => event.level === level));
    const label = document.querySelector(`button.level[data-level="${level}"] span`);
    const all = allOf.get(level).length, shown = eventsOf.get(level).length;
    label.textContent = shown < all ? `${shown.toLocaleString("en")} of ${counted(all, "event")}` : counted(all, "event");
  }
  slider.value = position;
  const written = isCalibrated ? `probability ≥ ${least.toFixed(2)}` : `Dₛₜ ≥ ${number(Math.exp(least))} × threshold`;
  const text = position > 0 ? `${shownEvents.length.toLocaleString("en")} of ${counted(events.length, "event")}: ${written}` : "all events";
  slider.setAttribute("aria-valuetext", text);
  document.getElementById("shown").textContent = text;
}

// The selected event, or the closest one that is shown, of its level if possible.
function closestShown(event) {
  const list = event && eventsOf.get(event.level);
  if (!event || list.includes(event)) return event;
  return (list.length ? list : shownEvents).reduce((a, b) => (Math.abs(b.time - event.time) < Math.abs(a.time - event.time) ? b : a));
}

slider.addEventListener("input", () => {
  filterEvents(Number(slider.value));
  state.event = closestShown(state.event);
  state.level = state.event?.level ?? state.level;
  for (const row of rows) row.scale = null; // chooses the pictures again
  sortRows();
  changed();
});
if (STRONGEST > WEAKEST) filterEvents(firstPosition());
else slider.parentElement.hidden = true;
