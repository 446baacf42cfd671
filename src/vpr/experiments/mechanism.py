"""The paper's own training beside ours, on one network: schedule, statistic of CU, loss weights."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.ball import Appearance, ball, draw_training, scores
from vpr.experiments.base import Claim, Experiment, Result, Results, Scale
from vpr.experiments.figures import BOTH, OTHERS
from vpr.experiments.settings import setting
from vpr.experiments.trained import trained
from vpr.presets import preset
from vpr.schedule import Linear, Staged

APPEARANCES = {
    "ours": Appearance("staged (ours)", BOTH),
    "paper": Appearance("linear (paper)", OTHERS[0]),
}
STEPS = 2000  # about as many as ours takes at scale cpu
PAPER = "the paper's linear anneal, mean in CU, β, learning rate; our image network, 2,000 steps"


def variants(scale: Scale) -> dict[str, RunConfig]:
    """One network, both ways to train it."""
    config = ball(scale)
    if scale == "paper":
        ours = replace(config, model=replace(config.model, power=0.5), schedule=Staged())
        return {"ours": ours, "paper": config}
    return {"ours": config, "paper": as_in_the_paper(config)}


def as_in_the_paper(ours: RunConfig) -> RunConfig:
    """In fewer steps, but in the paper's proportions: β rises over the first fifth of them."""
    steps = min(STEPS, ours.training.steps)
    training = replace(
        preset("paper/moving-ball").training,
        steps=steps,
        decay_steps=steps,
        batch_size=ours.training.batch_size,
        length=ours.training.length,
    )
    model = replace(ours.model, power=1.0)
    return replace(ours, model=model, training=training, schedule=Linear(kl_steps=steps // 5))


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {APPEARANCES[name].label}",
            "0.97 ± 0.03 in 15,000 steps or more",
            [run.metrics["f1"] for run in runs],
            _setting(name, runs),
        )
        for name, runs in results.items()
    ]


def _setting(variant: str, runs: list[Result]) -> str:
    if not runs[0].config["preset"].startswith("paper/"):
        return PAPER if variant == "paper" else setting(runs)
    return setting(runs) if variant == "paper" else "the paper's network; staged, root mean in CU"


EXPERIMENT = Experiment(
    name="mechanism",
    title="Moving Ball: our training beside the paper's, same network, same number of steps",
    cost="about ten minutes a run; ours is shared with criteria",
    variants=variants,
    measure=trained(scores),
    draw=partial(draw_training, appearances=APPEARANCES),
    claims=claims,
)
