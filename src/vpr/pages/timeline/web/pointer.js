// Mouse, pen and touch input: hover, click, drag to pan, wheel and pinch to zoom.
const CLICK_TOLERANCE = 4; // pixels; larger movements are drags
const pointers = new Map(); // pointer ID → position
let dragged = false;

const xIn = (event) => event.clientX - ruler.getBoundingClientRect().left;
const laneOf = (event) => event.target.closest?.(".lane");

stage.addEventListener("pointerdown", (event) => {
  const lane = laneOf(event);
  if (!lane || event.button) return;
  if (!pointers.size) dragged = false;
  pointers.set(event.pointerId, { x: xIn(event), from: xIn(event), whole: lane === overview });
  if (lane === overview) centreOn(xIn(event));
});

stage.addEventListener("pointermove", (event) => {
  const x = xIn(event), pointer = pointers.get(event.pointerId);
  if (!pointer) {
    const inside = laneOf(event) && x >= 0 && x < view.width && laneOf(event) !== overview;
    if (event.pointerType === "touch" || !inside) hideTip();
    else showTip(x);
    return;
  }
  if (Math.abs(x - pointer.from) > CLICK_TOLERANCE && !dragged) {
    dragged = true;
    hideTip();
    stage.setPointerCapture(event.pointerId);
  }
  if (!dragged) return;
  if (pointer.whole) centreOn(x);
  else if (pointers.size > 1) pinch(event.pointerId, x);
  else pan(timeAt(pointer.x) - timeAt(x));
  pointer.x = x;
});

function release(event) {
  const pointer = pointers.get(event.pointerId);
  pointers.delete(event.pointerId);
  if (pointer && !dragged && event.type === "pointerup" && !pointer.whole) selectAt(event);
}
stage.addEventListener("pointerup", release);
stage.addEventListener("pointercancel", release);
stage.addEventListener("pointerleave", hideTip);

function centreOn(x) {
  show(START + (x / view.width) * DURATION - span() / 2, span());
}

// Zooms around the position of the other finger.
function pinch(id, x) {
  const other = [...pointers].find(([each]) => each !== id)[1];
  const before = Math.abs(pointers.get(id).x - other.x), now = Math.abs(x - other.x);
  if (before > 8 && now > 8) zoom(before / now, timeAt(other.x));
}

// Selects the event whose mark is next to the pointer, or else the event at this time.
function selectAt(event) {
  const row = event.target.closest(".row"), x = xIn(event);
  const level = row ? Number(row.dataset.level) : state.level, list = eventsOf.get(level);
  if (!list) return;
  const near = list[countUpTo(list, timeAt(x), (each) => each.time)]; // the next one, if its mark is that close
  const here = near && xOf(middleOf(near.frame)) - x < 9 ? near : eventAt(level, frameAt(timeAt(x)));
  if (here) selectEvent(here);
  else selectLevel(level);
}

// If the whole video is visible, zooming out scrolls the page instead.
stage.addEventListener("wheel", (event) => {
  if (!laneOf(event) || (isWhole() && (event.deltaY > 0 || Math.abs(event.deltaX) > Math.abs(event.deltaY)))) return;
  event.preventDefault();
  hideTip();
  const lines = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((((event.deltaX || event.deltaY) * lines) / view.width) * span());
  else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY * lines)) * 0.002), timeAt(xIn(event)));
}, { passive: false });
