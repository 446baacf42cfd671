// Text formats of the page. All results are safe markup.
const KINDS = {
  expected: "expected (CE)",
  unexpected: "unexpected (CU)",
  both: "both (CE and CU)",
  clock: "fixed clock",
};

function clock(time, digits = 3) {
  const unit = 10 ** digits, all = Math.round(Math.abs(time) * unit);
  const seconds = Math.floor(all / unit), two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  const rest = digits ? "." + String(all % unit).padStart(digits, "0") : "";
  const head = hours ? `${hours}:${two(minutes)}` : String(minutes);
  return `${time < 0 && all ? "−" : ""}${head}:${two(seconds % 60)}${rest}`;
}

function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const written = value && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4)
    ? value.toExponential(digits - 1)
    : String(Number(value.toPrecision(digits)));
  return written.replace("-", "−");
}

const signed = (value) => (value === null ? "–" : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2));
const counted = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const mark = (kind) => `<svg class="mark" aria-hidden="true"><use href="#${escaped(kind)}"/></svg>`;
const facts = (rows) => `<dl>${rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>`;
