// Above the bars: the first frame of each event, as far as there is room.
const TALL = 54, WIDE = Math.max(24, Math.min(120, TALL * given.ratio)), GAP = 3;

// Left to right over the whole video, so that moving along it does not change the choice.
function chosenPictures(level) {
  const perSecond = view.width / span(), picked = [];
  let free = -Infinity;
  const first = framesWithPicture[0] === 0 ? [{ frame: 0, time: START }] : [];
  for (const event of [...first, ...eventsOf.get(level)]) {
    const x = (event.time - START) * perSecond;
    if (x < free || !(event.frame in given.pictures)) continue;
    free = x + WIDE + GAP;
    picked.push(event);
  }
  return picked;
}

function drawPictures(row) {
  const zoomed = view.width / span();
  if (row.zoomed !== zoomed) Object.assign(row, { zoomed, picked: chosenPictures(row.level) });
  const begun = after(row.picked, view.from, (event) => event.time);
  const end = after(row.picked, view.to, (event) => event.time);
  const shown = new Set();
  for (let i = Math.max(0, begun - 1); i < end; i++) {
    const { frame, time } = row.picked[i];
    const next = row.picked[i + 1] ? xOf(row.picked[i + 1].time) : view.width;
    let x = xOf(time);
    if (x < 0) x = Math.min(0, next - WIDE - GAP); // an event that began earlier keeps its picture in sight
    const image = picture(row, frame);
    image.style.transform = `translateX(${x.toFixed(1)}px)`;
    image.classList.toggle("chosen", state.event?.frame === frame && state.event.level === row.level);
    shown.add(frame);
  }
  for (const [frame, image] of row.images)
    if (!shown.has(frame)) {
      image.remove();
      row.images.delete(frame);
    }
}

// Made once for as long as it is seen.
function picture(row, frame) {
  if (!row.images.has(frame)) {
    const image = Object.assign(new Image(WIDE, TALL), { alt: "", draggable: false, src: pictureOf(frame) });
    row.images.set(frame, row.pictures.appendChild(image));
  }
  return row.images.get(frame);
}

if (framesWithPicture.length) {
  for (const row of rows) row.images = new Map();
  drawings.push(() => rows.forEach(drawPictures));
} else for (const row of rows) row.pictures.remove();
