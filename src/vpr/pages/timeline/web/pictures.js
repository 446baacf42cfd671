// Thumbnails above the bars: the first frame of each event, where there is space.
const PICTURE_HEIGHT = 54, PICTURE_WIDTH = Math.max(24, Math.min(120, PICTURE_HEIGHT * timeline.ratio)), GAP = 3;

// Chosen from left to right over the whole video, so that panning does not change the selection.
function fittingPictures(level) {
  const perSecond = view.width / span(), fitting = [];
  let nextFree = -Infinity;
  const first = framesWithPicture[0] === 0 ? [{ frame: 0, time: START }] : [];
  for (const event of [...first, ...eventsOf.get(level)]) {
    const x = (event.time - START) * perSecond;
    if (x < nextFree || !(event.frame in timeline.pictures)) continue;
    nextFree = x + PICTURE_WIDTH + GAP;
    fitting.push(event);
  }
  return fitting;
}

function drawPictures(row) {
  const scale = view.width / span();
  if (row.scale !== scale) Object.assign(row, { scale, fitting: fittingPictures(row.level) });
  const begun = countUpTo(row.fitting, view.from, (event) => event.time);
  const end = countUpTo(row.fitting, view.to, (event) => event.time);
  const shown = new Set();
  for (let i = Math.max(0, begun - 1); i < end; i++) {
    const { frame, time } = row.fitting[i];
    const next = row.fitting[i + 1] ? xOf(row.fitting[i + 1].time) : view.width;
    let x = xOf(time);
    if (x < 0) x = Math.min(0, next - PICTURE_WIDTH - GAP); // the picture of an event that began earlier stays visible
    const image = picture(row, frame);
    image.style.transform = `translateX(${x.toFixed(1)}px)`;
    image.classList.toggle("selected", state.event?.frame === frame && state.event.level === row.level);
    shown.add(frame);
  }
  for (const [frame, image] of row.images)
    if (!shown.has(frame)) {
      image.remove();
      row.images.delete(frame);
    }
}

// The image element of a frame, created once and kept while it is visible.
function picture(row, frame) {
  if (!row.images.has(frame)) {
    const image = Object.assign(new Image(PICTURE_WIDTH, PICTURE_HEIGHT), { alt: "", draggable: false, src: pictureOf(frame) });
    row.images.set(frame, row.pictures.appendChild(image));
  }
  return row.images.get(frame);
}

if (framesWithPicture.length) {
  for (const row of rows) row.images = new Map();
  drawings.push(() => rows.forEach(drawPictures));
} else for (const row of rows) row.pictures.remove();
