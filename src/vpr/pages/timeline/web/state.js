// The selected level and event, and the listeners to their changes.
// Initially the highest level with events, and its first event.
const highestLevel = [...LEVELS].reverse().find((level) => eventsOf.get(level).length);
const state = { level: highestLevel ?? LEVELS[0], event: eventsOf.get(highestLevel)?.[0] ?? null };
const listeners = [];

function selectEvent(event) {
  state.event = event;
  state.level = event.level;
  ensureVisible(event.time);
  changed();
}

function selectLevel(level) {
  if (!eventsOf.has(level)) return;
  state.level = level;
  changed();
}

// Selects the next or previous event of the selected level.
function step(direction) {
  const list = eventsOf.get(state.level) ?? [];
  const here = state.event?.frame ?? 0;
  const passed = countUpTo(list, here, (event) => event.frame);
  const onIt = passed && list[passed - 1].frame === here;
  const next = list[direction > 0 ? passed : passed - (onIt ? 2 : 1)];
  if (next) selectEvent(next);
}

function changed() {
  for (const listener of listeners) listener();
  refresh();
}
