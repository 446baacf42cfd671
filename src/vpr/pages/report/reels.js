
const motion = document.getElementById("motion");
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

function move(on) {
  document.documentElement.dataset.motion = on ? "on" : "off";
  motion.textContent = on ? "❚❚ pause" : "▶ play";
  motion.setAttribute("aria-label", on ? "Pause the moving pictures" : "Play the moving pictures");
}
motion.hidden = false;
motion.addEventListener("click", () => move(document.documentElement.dataset.motion === "off"));
move(!calm);

for (const reel of document.querySelectorAll(".reel")) {
  const tape = reel.querySelector(".tape");
  const count = Number(getComputedStyle(reel).getPropertyValue("--n"));
  tape.addEventListener("pointermove", (event) => {
    const at = Math.floor((event.offsetX / tape.offsetWidth) * count);
    reel.style.setProperty("--at", Math.max(0, Math.min(count - 1, at)));
    reel.classList.add("held");
  });
  tape.addEventListener("pointerleave", () => {
    reel.classList.remove("held");
    keepStep();
  });
}

// What stands beside each other shows the same step.
function keepStep() {
  const moving = document.getAnimations();
  for (const each of moving) each.currentTime = moving[0].currentTime;
}
addEventListener("load", keepStep);
