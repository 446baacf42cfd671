"""Figure 3b: level-2 F1 on Moving Ball when CE, CU or both decide."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.trained import trained
from vpr.experiments.shared.moving_ball import Appearance, ball, draw_training, scores
from vpr.experiments.shared.panels import BOTH, CE, CU

APPEARANCES = {
    "both": Appearance("CE and CU", BOTH),
    "ce": Appearance("CE only", CE),
    "cu": Appearance("CU only", CU),
}
PAPER = {
    "both": "0.97 ± 0.03",
    "ce": "clearly below both (figure only)",
    "cu": "clearly below both (figure only)",
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    both = ball(scale)
    return {
        "both": both,
        "ce": replace(both, model=replace(both.model, unexpected=False)),
        "cu": replace(both, model=replace(both.model, expected=False)),
    }


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {APPEARANCES[name].label}",
            PAPER[name],
            [run.metrics["f1"] for run in runs],
            setting(runs),
        )
        for name, runs in results.items()
    ]


EXPERIMENT = Experiment(
    name="criteria",
    title="Moving Ball: F1 of level 2 over training with CE and CU, CE only, CU only",
    cost="one run of cpu/moving-ball each",
    variants=variants,
    measure=trained(scores),
    draw=partial(draw_training, appearances=APPEARANCES),
    claims=claims,
)
