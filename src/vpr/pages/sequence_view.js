const ZOOM = 4;

for (const clip of document.querySelectorAll(".clip")) {
  const scroll = clip.querySelector(".scroll");
  const sequence = clip.querySelector(".sequence");
  const cursor = clip.querySelector(".cursor");
  const strips = clip.querySelectorAll(".strip");
  const tips = JSON.parse(clip.querySelector("script").textContent);
  const cell = Number(sequence.dataset.cell), frame = Number(sequence.dataset.frame);
  let current = -1;

  const show = (t) => {
    current = Math.max(0, Math.min(tips.length - 1, t));
    cursor.style.left = strips[0].offsetLeft + current * cell + "px";
    cursor.style.width = cell + "px";
    cursor.hidden = tip.hidden = false;
    tip.querySelector(".words").innerHTML = tips[current];
    strips.forEach((strip, i) => {
      const margin = (cell - frame) / 2;
      Object.assign(views[i].style, {
        width: frame * ZOOM + "px",
        height: strip.offsetHeight * ZOOM + "px",
        backgroundImage: `url(${strip.src})`,
        backgroundSize: `${strip.offsetWidth * ZOOM}px ${strip.offsetHeight * ZOOM}px`,
        backgroundPosition: `${-(current * cell + margin) * ZOOM}px 0`,
      });
    });
    place(cursor.getBoundingClientRect());
  };
  const hide = () => { cursor.hidden = tip.hidden = true; };

  sequence.addEventListener("mousemove", (event) => {
    const x = event.clientX - strips[0].getBoundingClientRect().left;
    const onLabel = event.target.closest(".label");
    if (onLabel || x < 0 || x >= tips.length * cell) hide();
    else show(Math.floor(x / cell));
  });
  sequence.addEventListener("mouseleave", hide);
  scroll.addEventListener("blur", hide);
  scroll.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    scroll.scrollLeft = (current + step + 0.5) * cell - scroll.clientWidth / 2;
    show(current + step);
  });
}
