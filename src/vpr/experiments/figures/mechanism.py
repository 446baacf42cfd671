"""The paper's own training beside ours, on one network: stages, loss, rate, statistic of CU."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.trained import trained
from vpr.experiments.shared.moving_ball import Appearance, ball, draw_training, scores
from vpr.experiments.shared.panels import BOTH, OTHERS
from vpr.presets import preset

APPEARANCES = {
    "ours": Appearance("our recipe", BOTH),
    "paper": Appearance("the paper's", OTHERS[0]),
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    """One network, both ways to train it."""
    config = ball(scale)
    return {
        "ours": trained_like(config, preset("cpu/moving-ball")),
        "paper": trained_like(config, preset("paper/moving-ball")),
    }


def trained_like(config: RunConfig, other: RunConfig) -> RunConfig:
    """With the stages, training and statistic of CU of `other`, in its own number of steps.

    Stages are shares of the steps, so that β rises over the same share of them.
    """
    mine = config.training
    training = replace(
        other.training,
        steps=mine.steps,
        batch_size=mine.batch_size,
        length=mine.length,
        checkpoint_every=mine.checkpoint_every,
    )
    model = replace(config.model, power=other.model.power)
    return replace(config, model=model, training=training, stages=other.stages)


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {APPEARANCES[name].label}",
            "0.97 ± 0.03 in 15,000 steps or more",
            [run.metrics["f1"] for run in runs],
            setting(runs),
        )
        for name, runs in results.items()
    ]


EXPERIMENT = Experiment(
    name="mechanism",
    title="Moving Ball: our training beside the paper's, same network, same number of steps",
    cost="one run of cpu/moving-ball each; ours is shared with criteria",
    variants=variants,
    measure=trained(scores),
    draw=partial(draw_training, appearances=APPEARANCES),
    claims=claims,
)
