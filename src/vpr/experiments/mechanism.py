"""The paper's own training beside ours, on one network: schedule, statistic of CU, loss weights."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.ball import SETTING, Look, ball, draw_training, scores
from vpr.experiments.base import Claim, Experiment, Results, Scale
from vpr.experiments.figures import BOTH, OTHERS
from vpr.experiments.trained import trained
from vpr.schedule import Linear

LOOKS = {"ours": Look("staged (ours)", BOTH), "paper": Look("linear (paper)", OTHERS[0])}
STEPS = 2000  # about as many as ours takes
SETTINGS = {
    "ours": SETTING,
    "paper": "the paper's linear anneal, mean in CU, β 1, learning rate; our network, 2,000 steps",
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    """The paper's schedule keeps its proportions: β rises over the first fifth of the steps."""
    ours = ball(scale)
    total = STEPS if scale == "cpu" else ours.training.steps
    training = replace(
        ours.training,
        steps=total,
        decay_steps=total,
        learning_rate=5e-4,
        final_learning_rate=5e-5,
        warmup_steps=0,
        clip=10_000.0,
        kl_balancing=True,
    )
    paper = replace(
        ours,
        model=replace(ours.model, power=1.0),
        training=training,
        schedule=Linear(kl_steps=total // 5),
    )
    return {"ours": ours, "paper": paper}


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {LOOKS[name].label}",
            "0.97 ± 0.03 in 15,000 steps or more",
            [run.metrics["f1"] for run in runs],
            SETTINGS[name],
        )
        for name, runs in results.items()
    ]


EXPERIMENT = Experiment(
    name="mechanism",
    title="Moving Ball: our training beside the paper's, same network, same number of steps",
    cost="about ten minutes a run; ours is shared with criteria",
    variants=variants,
    measure=trained(scores),
    draw=partial(draw_training, looks=LOOKS),
    claims=claims,
)
