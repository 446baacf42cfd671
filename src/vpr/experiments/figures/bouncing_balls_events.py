"""Figure 13: F1, true- and false-positive rate of level 2 on Bouncing Balls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vpr.experiments.runner.experiment import Claim, Experiment, Results
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, single_run
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.shared.levels import level_claims, level_scores
from vpr.experiments.shared.panels import draw_curve, score_axis
from vpr.utils.figures import GREY, OTHERS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTORS = {2: "colour"}
RATES = {"f1": "F1", "recall": "true-positive rate", "fpr": "false-positive rate"}


def draw(results: Results) -> Figure:
    """The three panels of the paper; the first also has the F1 of random boundaries."""
    (runs,) = results.values()
    with panels(3) as (figure, axes):
        for name, each in zip(RATES, axes, strict=True):
            draw_curve(each, runs, f"{name}_colour", OTHERS[0], "VPR")
            each.set_xlabel("training step")
            score_axis(each, f"{RATES[name]}, level 2")
        random = metric(runs, "random_f1_colour")
        axes[0].axhline(sum(random) / len(random), color=GREY, linestyle="--", label="random")
        axes[0].legend(loc="best")
    return figure


def claims(results: Results) -> list[Claim]:
    dataset = "Bouncing Balls"
    rows = level_claims(results, FACTORS, dataset, "above VTA (figure only)")
    for runs in results.values():
        for name in ("recall", "fpr"):
            values = metric(runs, f"{name}_colour")
            what = f"{dataset}, level 2: {RATES[name]}"
            rows.append(Claim(what, "figure only", values, describe(runs)))
    return rows


EXPERIMENT = Experiment(
    name="bouncing-balls-events",
    paper="figure 13, appendix C.3",
    title="Bouncing Balls: F1, true- and false-positive rate of level 2 over training",
    cost="one training run of cpu/bouncing-balls",
    variants=single_run("bouncing-balls"),
    measure=measure_training(level_scores(FACTORS)),
    draw=draw,
    claims=claims,
)
