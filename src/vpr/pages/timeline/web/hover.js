// The cursor line across all rows and the tooltip of the frame under the pointer.
const stage = document.getElementById("stage");
const cursor = stage.querySelector(".cursor");

function showTip(x) {
  const frame = Math.max(0, Math.min(timeline.frames - 1, Math.floor(frameAt(timeAt(x)))));
  const left = Math.max(0, xOf(timeOf(frame))), right = Math.min(view.width, xOf(timeOf(frame + 1)));
  cursor.style.left = ruler.getBoundingClientRect().left - stage.getBoundingClientRect().left + left + "px";
  cursor.style.width = Math.max(1, right - left) + "px";
  cursor.hidden = tip.hidden = false;
  tip.querySelector(".words").innerHTML = tipHtml(frame);
  const seen = lastPicture(frame), figure = tip.querySelector("figure");
  figure.hidden = seen === undefined;
  if (!figure.hidden) {
    const height = Math.min(110, 150 / timeline.ratio);
    Object.assign(views[0].style, {
      width: height * timeline.ratio + "px", height: height + "px",
      backgroundImage: `url(${pictureOf(seen)})`, backgroundSize: "100% 100%",
    });
    figure.querySelector("figcaption").textContent = `key frame ${seen}`;
  }
  place(cursor.getBoundingClientRect());
}

const hideTip = () => { cursor.hidden = tip.hidden = true; };

function tipHtml(frame) {
  const range = (values) => values && [...new Set(values.map((value) => number(value)))].join(" to ");
  const [st, ch, threshold] = valuesAt(state.level, frame).map(range);
  const rows = [
    [`<i>level ${state.level}</i>`, ""],
    ["D<sub>st</sub>", st ?? "–"], ["D<sub>ch</sub>", ch ?? "–"], ["threshold", threshold ?? "–"],
    ...[...LEVELS].reverse().map((level) => [`in level ${level}`, eventStatus(eventAt(level, frame), frame)]),
  ];
  return `<b>${clock(timeOf(frame))}</b> frame ${frame}` + facts(rows);
}

function eventStatus(event, frame) {
  if (!event) return "first event";
  return event.frame === frame ? `${mark(event.kind)}starts: ${escaped(event.kind)}` : `since ${clock(event.time, 2)}`;
}
