// The panel of the selected event: its first frame, time and the values compared.
const shownPicture = document.getElementById("picture");
const factsPanel = document.getElementById("facts");
const video = document.getElementById("video");
document.getElementById("details").style.setProperty("--ratio", timeline.ratio);

function describe() {
  const event = state.event;
  for (const button of document.querySelectorAll("button.level"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.level) === state.level));
  shownPicture.hidden = !event || !(event.frame in timeline.pictures);
  if (!event) {
    factsPanel.innerHTML = `<h2>No events</h2><p class="quiet">No level detected an event. An event begins where D<sub>st</sub> rises above D<sub>ch</sub> or above the threshold; the curves show how close it was.</p>`;
    return;
  }
  if (!shownPicture.hidden) {
    shownPicture.src = pictureOf(event.frame);
    shownPicture.alt = `First frame of the event at ${clock(event.time)}`;
  }
  const list = allOf.get(event.level), place = list.indexOf(event); // the numbers of the other files
  const end = list[place + 1]?.time ?? START + DURATION;
  factsPanel.innerHTML =
    `<h2>${mark(event.kind)} Level ${event.level}, event ${place + 1} of ${list.length}</h2>` +
    facts([
      ["time", `${clock(event.time)} <small>exactly ${escaped(event.exact)} s</small>`],
      ["frame", String(event.frame)],
      ["level", String(event.level)],
      ["kind", escaped(KINDS[event.kind] ?? event.kind)],
      ["lasts", `${(end - event.time).toFixed(2)} s`],
      ["D<sub>st</sub>", number(event.st, 4)],
      ["D<sub>ch</sub>", number(event.ch, 4)],
      ["threshold", number(event.threshold, 4)],
      ["fit", signed(event.fit)],
      ["surprise", signed(event.surprise)],
      ...(event.probability === null ? [] : [["probability", event.probability.toFixed(2)]]),
    ]);
  // 1 ms into the frame, because browsers that round down would show the previous one.
  if (video && !video.hidden) video.currentTime = event.time - START + 0.001;
}

if (video) {
  const reveal = () => {
    video.hidden = !video.videoWidth;
    describe();
  };
  video.addEventListener("loadedmetadata", reveal);
  video.addEventListener("error", () => video.remove());
  if (video.readyState > 0) reveal();
}
listeners.push(describe);
