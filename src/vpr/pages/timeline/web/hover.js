// What lies under the pointer: a line across all rows, and the tip.
const stage = document.getElementById("stage");
const cursor = stage.querySelector(".cursor");

function point(x) {
  const frame = Math.max(0, Math.min(given.frames - 1, Math.floor(frameAt(timeAt(x)))));
  const left = Math.max(0, xOf(timeOf(frame))), right = Math.min(view.width, xOf(timeOf(frame + 1)));
  cursor.style.left = ruler.getBoundingClientRect().left - stage.getBoundingClientRect().left + left + "px";
  cursor.style.width = Math.max(1, right - left) + "px";
  cursor.hidden = tip.hidden = false;
  tip.querySelector(".words").innerHTML = tipWords(frame);
  const seen = lastPicture(frame), figure = tip.querySelector("figure");
  figure.hidden = seen === undefined;
  if (!figure.hidden) {
    const height = Math.min(110, 150 / given.ratio);
    Object.assign(views[0].style, {
      width: height * given.ratio + "px", height: height + "px",
      backgroundImage: `url(${pictureOf(seen)})`, backgroundSize: "100% 100%",
    });
    figure.querySelector("figcaption").textContent = `key frame ${seen}`;
  }
  place(cursor.getBoundingClientRect());
}

const unpoint = () => { cursor.hidden = tip.hidden = true; };

function tipWords(frame) {
  const range = (values) => values && [...new Set(values.map((value) => number(value)))].join(" to ");
  const [st, ch, threshold] = valuesAt(state.level, frame).map(range);
  const rows = [
    [`<i>level ${state.level}</i>`, ""],
    ["D<sub>st</sub>", st ?? "–"], ["D<sub>ch</sub>", ch ?? "–"], ["threshold", threshold ?? "–"],
    ...[...LEVELS].reverse().map((level) => [`in level ${level}`, sinceWhen(eventAt(level, frame), frame)]),
  ];
  return `<b>${clock(timeOf(frame))}</b> frame ${frame}` + facts(rows);
}

function sinceWhen(event, frame) {
  if (!event) return "its first event";
  return event.frame === frame ? `${mark(event.kind)}begins: ${event.kind}` : `since ${clock(event.time, 2)}`;
}
