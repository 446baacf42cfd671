// The chosen level and the chosen event: what they are, and who wants to know when they change.
// At first the slowest level that found anything, and what it found first.
const eventful = [...LEVELS].reverse().find((level) => eventsOf.get(level).length);
const state = { level: eventful ?? LEVELS[0], event: eventsOf.get(eventful)?.[0] ?? null };
const listeners = [];

function choose(event) {
  state.event = event;
  state.level = event.level;
  bringIntoSight(event.time);
  changed();
}

function chooseLevel(level) {
  if (!eventsOf.has(level)) return;
  state.level = level;
  changed();
}

// From the chosen event to the next of the chosen level.
function step(direction) {
  const list = eventsOf.get(state.level) ?? [];
  const here = state.event?.frame ?? 0;
  const passed = after(list, here, (event) => event.frame);
  const onIt = passed && list[passed - 1].frame === here;
  const next = list[direction > 0 ? passed : passed - (onIt ? 2 : 1)];
  if (next) choose(next);
}

function changed() {
  for (const listener of listeners) listener();
  refresh();
}
