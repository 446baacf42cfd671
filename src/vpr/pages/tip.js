"use strict";
const tip = document.getElementById("tip");
const views = tip.querySelectorAll("figure span");

// Places the tooltip below the column, or above it if there is not enough space below.
function place(column) {
  const centred = (column.left + column.right - tip.offsetWidth) / 2;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const under = column.bottom + 6, over = column.top - tip.offsetHeight - 6;
  const fits = under + tip.offsetHeight <= innerHeight || over < 0;
  tip.style.left = Math.max(8, Math.min(centred, room)) + "px";
  tip.style.top = Math.min(fits ? under : over, innerHeight - tip.offsetHeight - 8) + "px";
}
