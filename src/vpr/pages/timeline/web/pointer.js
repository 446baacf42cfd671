// Mouse, pen and fingers: hover, click, drag to pan, wheel and pinch to zoom.
const SLIP = 4; // pixels that a click may move
const held = new Map(); // pointer → where it is
let dragged = false;

const xIn = (event) => event.clientX - ruler.getBoundingClientRect().left;
const laneOf = (event) => event.target.closest?.(".lane");

stage.addEventListener("pointerdown", (event) => {
  const lane = laneOf(event);
  if (!lane || event.button) return;
  if (!held.size) dragged = false;
  held.set(event.pointerId, { x: xIn(event), from: xIn(event), whole: lane === overview });
  if (lane === overview) centreOn(xIn(event));
});

stage.addEventListener("pointermove", (event) => {
  const x = xIn(event), own = held.get(event.pointerId);
  if (!own) {
    const inside = laneOf(event) && x >= 0 && x < view.width && laneOf(event) !== overview;
    if (event.pointerType === "touch" || !inside) unpoint();
    else point(x);
    return;
  }
  if (Math.abs(x - own.from) > SLIP && !dragged) {
    dragged = true;
    unpoint();
    stage.setPointerCapture(event.pointerId);
  }
  if (!dragged) return;
  if (own.whole) centreOn(x);
  else if (held.size > 1) pinch(event.pointerId, x);
  else pan(timeAt(own.x) - timeAt(x));
  own.x = x;
});

function release(event) {
  const own = held.get(event.pointerId);
  held.delete(event.pointerId);
  if (own && !dragged && event.type === "pointerup" && !own.whole) pick(event);
}
stage.addEventListener("pointerup", release);
stage.addEventListener("pointercancel", release);
stage.addEventListener("pointerleave", unpoint);

function centreOn(x) {
  show(START + (x / view.width) * WHOLE - span() / 2, span());
}

// The other finger stays where it is.
function pinch(id, x) {
  const other = [...held].find(([each]) => each !== id)[1];
  const before = Math.abs(held.get(id).x - other.x), now = Math.abs(x - other.x);
  if (before > 8 && now > 8) zoom(before / now, timeAt(other.x));
}

// The mark next to the pointer, or the event that was going on there.
function pick(event) {
  const row = event.target.closest(".row"), x = xIn(event);
  const level = row ? Number(row.dataset.level) : state.level, list = eventsOf.get(level);
  if (!list) return;
  const near = list[after(list, timeAt(x), (each) => each.time)]; // the next one, if its mark is that close
  const here = near && xOf(middleOf(near.frame)) - x < 9 ? near : eventAt(level, frameAt(timeAt(x)));
  if (here) choose(here);
  else chooseLevel(level);
}

// With all of it in sight there is nothing to zoom out to: then the page itself may scroll.
stage.addEventListener("wheel", (event) => {
  if (!laneOf(event) || (isWhole() && (event.deltaY > 0 || Math.abs(event.deltaX) > Math.abs(event.deltaY)))) return;
  event.preventDefault();
  unpoint();
  const lines = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((((event.deltaX || event.deltaY) * lines) / view.width) * span());
  else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY * lines)) * 0.002), timeAt(xIn(event)));
}, { passive: false });
