// The table of events of one or all levels, sorted by any column, with 100 rows per page.
const table = document.getElementById("table");
const filter = document.getElementById("filter");
const PAGE = 100;
const COLUMNS = [
  ["frame", "frame", (event) => `<button type="button">${event.frame}</button>`],
  ["time", "time", (event) => clock(event.time)],
  ["level", "level", (event) => event.level],
  ["kind", "kind", (event) => mark(event.kind) + escaped(event.kind)],
  ["st", "D<sub>st</sub>", (event) => number(event.st)],
  ["ch", "D<sub>ch</sub>", (event) => number(event.ch)],
  ["threshold", "threshold", (event) => number(event.threshold)],
  ["fit", "fit", (event) => signed(event.fit)],
  ["surprise", "surprise", (event) => signed(event.surprise)],
];
const order = { by: "time", down: false, start: 0, list: shownEvents };

function sortRows() {
  const level = Number(filter.value), { by, down } = order;
  const list = level ? [...eventsOf.get(level)] : [...shownEvents];
  list.sort((a, b) => {
    if (a[by] === b[by]) return a.index - b.index;
    if (a[by] === null || b[by] === null) return a[by] === null ? 1 : -1; // unknown ones last
    return (a[by] < b[by] ? -1 : 1) * (down ? -1 : 1);
  });
  order.list = list;
  order.start = 0;
  table.tHead.rows[0].innerHTML = COLUMNS.map(([key, name]) => {
    const sorted = key !== by ? "none" : down ? "descending" : "ascending";
    return `<th scope="col" aria-sort="${sorted}"><button type="button" data-key="${key}">${name}<i aria-hidden="true"></i></button></th>`;
  }).join("");
  fillRows();
}

function fillRows() {
  const { list, start } = order, shown = list.slice(start, start + PAGE);
  table.tBodies[0].innerHTML = shown.map((event) =>
    `<tr data-index="${event.index}"${event === state.event ? ' aria-current="true"' : ""}>` +
    COLUMNS.map(([, , cell]) => `<td>${cell(event)}</td>`).join("") + "</tr>").join("");
  const words = shown.length < list.length ? `${start + 1} to ${start + shown.length} of ${list.length.toLocaleString("en")}` : counted(list.length, "event");
  document.getElementById("rows").textContent = words;
  less.disabled = start === 0;
  more.disabled = start + PAGE >= list.length;
  less.parentElement.hidden = list.length <= PAGE;
}

function turnPage(rows) {
  order.start = Math.max(0, Math.min(order.start + rows, order.list.length - 1));
  fillRows();
}
const [less, more] = ["less", "more"].map((id) => document.getElementById(id));
less.addEventListener("click", () => turnPage(-PAGE));
more.addEventListener("click", () => turnPage(PAGE));

filter.addEventListener("change", sortRows);
table.tHead.addEventListener("click", ({ target }) => {
  const key = target.closest("button")?.dataset.key;
  if (!key) return;
  Object.assign(order, { by: key, down: order.by === key && !order.down });
  sortRows();
  table.tHead.querySelector(`[data-key="${key}"]`).focus();
});
table.tBodies[0].addEventListener("click", ({ target }) => {
  const row = target.closest("tr"), withKeys = target.closest("button");
  if (!row) return;
  selectEvent(events[row.dataset.index]);
  if (withKeys) table.querySelector('[aria-current="true"] button')?.focus();
});

// Shows the page of the table that contains the selected event.
listeners.push(() => {
  const place = order.list.indexOf(state.event);
  if (place >= 0) order.start = Math.floor(place / PAGE) * PAGE;
  fillRows();
  const row = table.querySelector('[aria-current="true"]'), box = table.parentElement, head = table.tHead.offsetHeight;
  if (!row) return;
  const above = row.offsetTop - head, below = row.offsetTop + row.offsetHeight - box.clientHeight;
  box.scrollTop = Math.min(above, Math.max(below, box.scrollTop));
});
