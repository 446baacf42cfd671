"""Configurations, metrics and figures of the experiments on Moving Ball."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vpr.experiments.runner.experiment import Claim, Published, Results
from vpr.experiments.runner.result_metrics import controls_of, metric
from vpr.experiments.runner.settings import describe
from vpr.experiments.runner.training_runs import Record, record_steps
from vpr.experiments.shared.panels import draw_curve, draw_scores, score_axis
from vpr.utils.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = "2"  # the level of the colour
F1_LABEL = "F1 of level 2, colour changes"


def scores(record: Record) -> dict[str, Any]:
    """Final scores of level 2, and F1 over training, from the record of a run."""
    evaluation = record["evaluation"]
    colour = evaluation["levels"][LEVEL]["colour"]
    return {
        "f1": colour["f1"],
        "precision": colour["precision"],
        "recall": colour["recall"],
        "fpr": colour["fpr"],
        "random_f1": evaluation["controls"][LEVEL]["random"]["colour"]["f1"],
        "periodic_f1": evaluation["controls"][LEVEL]["periodic"]["colour"]["f1"],
        "update_rate": evaluation["levels"][LEVEL]["update_rate"],
        "elbo": evaluation["elbo"],
        "time_to_f1": record["time_to_f1"],
        "curve": {"step": record_steps(record), "f1": training_curve(record, "f1")},
    }


def training_curve(record: Record, name: str) -> list[float]:
    """A metric of level 2 at each inspection."""
    return [each["levels"][LEVEL][name] for each in record["looks"]]


class Variant(NamedTuple):
    """Label and colour of a variant, its F1 in the paper, and its row of the main results."""

    label: str
    colour: str
    paper: Published | str
    main: str = ""


def draw_training(
    results: Results, variants: dict[str, Variant], curve_name: str = "f1", axis: str = F1_LABEL
) -> Figure:
    """A curve of each variant over training, and the final F1."""
    with panels(2) as (figure, (over, final)):
        for name, runs in reversed(results.items()):  # draws the first variant on top
            draw_curve(over, runs, curve_name, variants[name].colour, variants[name].label)
        over.set_xlabel("training step")
        over.set_ylabel(axis)
        if curve_name == "f1":
            score_axis(over, axis)
        over.legend(loc="best", reverse=True)
        groups = {variants[name].label: metric(runs, "f1") for name, runs in results.items()}
        draw_scores(final, groups, [variants[name].colour for name in results])
        final.set_ylabel("final F1 of each run")
    return figure


def f1_claims(results: Results, variants: dict[str, Variant]) -> list[Claim]:
    return [
        Claim(
            f"Moving Ball, level-2 F1, {variants[name].label}",
            variants[name].paper,
            metric(runs, "f1"),
            describe(runs),
            controls=controls_of(runs),
            main=variants[name].main,
        )
        for name, runs in results.items()
    ]
