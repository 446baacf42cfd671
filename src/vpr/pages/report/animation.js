
const motion = document.getElementById("motion");
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;

function setPlaying(on) {
  document.documentElement.dataset.motion = on ? "on" : "off";
  motion.textContent = on ? "❚❚ pause" : "▶ play";
  motion.setAttribute("aria-label", on ? "Pause all animations" : "Play all animations");
}
motion.hidden = false;
motion.addEventListener("click", () => setPlaying(document.documentElement.dataset.motion === "off"));
setPlaying(!reducedMotion);

for (const animation of document.querySelectorAll(".animation")) {
  const tape = animation.querySelector(".tape");
  const count = Number(getComputedStyle(animation).getPropertyValue("--n"));
  tape.addEventListener("pointermove", (event) => {
    const at = Math.floor((event.offsetX / tape.offsetWidth) * count);
    animation.style.setProperty("--at", Math.max(0, Math.min(count - 1, at)));
    animation.classList.add("held");
  });
  tape.addEventListener("pointerleave", () => {
    animation.classList.remove("held");
    synchronise();
  });
}

// Keeps all animations at the same step.
function synchronise() {
  const moving = document.getAnimations();
  for (const each of moving) each.currentTime = moving[0].currentTime;
}
addEventListener("load", synchronise);
