"""Figure 3b: level-2 F1 on Moving Ball with CE, CU or both."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.runner.experiment import Experiment, Published, Results, Scale, Statement
from vpr.experiments.runner.result_metrics import f1_row, metric
from vpr.experiments.runner.settings import run_config
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.runner.verdicts import above
from vpr.experiments.shared.moving_ball import (
    Variant,
    draw_training,
    f1_claims,
    scores,
)
from vpr.utils.figures import BOTH, CE, CU

VARIANTS = {
    "both": Variant("CE and CU", BOTH, Published(0.97, 0.03), f1_row("Moving Ball", "colour")),
    "ce": Variant("CE only", CE, "below both (figure only)"),
    "cu": Variant("CU only", CU, "below both (figure only)"),
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    both = run_config("moving-ball", scale)
    return {
        "both": both,
        "ce": replace(both, model=replace(both.model, unexpected=False)),
        "cu": replace(both, model=replace(both.model, expected=False)),
    }


def statements(results: Results) -> list[Statement]:
    if "both" not in results:
        return []
    return [
        above(
            f"Moving Ball: F1 with CE and CU above {VARIANTS[name].label}",
            metric(results["both"], "f1"),
            metric(results[name], "f1"),
        )
        for name in ("ce", "cu")
        if name in results
    ]


EXPERIMENT = Experiment(
    name="criteria",
    paper="figure 3b",
    title="Moving Ball: F1 of level 2 over training with CE and CU, CE only, CU only",
    cost="one training run of cpu/moving-ball",
    variants=variants,
    measure=measure_training(scores),
    draw=partial(draw_training, variants=VARIANTS),
    claims=partial(f1_claims, variants=VARIANTS),
    statements=statements,
)
