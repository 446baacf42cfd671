"""What the Moving Ball experiments have in common: settings, and curves of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vpr.config import RunConfig
from vpr.experiments.runner.base import Results, Scale
from vpr.experiments.runner.settings import run_of
from vpr.experiments.runner.trained import Record, steps
from vpr.experiments.shared.panels import curve, draw_band, draw_scores, panels, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = "2"  # which holds the colour
F1 = "F1 of level 2, colour changes"


def ball(scale: Scale, slow: bool = False) -> RunConfig:
    """The preset."""
    return run_of("moving-ball-slow" if slow else "moving-ball", scale)


def scores(record: Record) -> dict[str, Any]:
    """Of a record: the final F1 and what it is made of, and its curve over training."""
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
        "curve": {"step": steps(record), "f1": over_training(record, "f1")},
    }


def over_training(record: Record, name: str) -> list[float]:
    return [look["levels"][LEVEL][name] for look in record["looks"]]


class Appearance(NamedTuple):
    """How a variant appears in figures and tables."""

    label: str
    colour: str


def draw_training(
    results: Results, appearances: dict[str, Appearance], curve_name: str = "f1", axis: str = F1
) -> Figure:
    """One of the variants' curves over training, and their F1 at the end."""
    with panels(2) as (figure, (over, final)):
        for name, runs in reversed(results.items()):  # the first one on top
            curves = [curve(run, curve_name) for run in runs]
            draw_band(over, curves, appearances[name].colour, appearances[name].label)
        over.set_xlabel("training step")
        over.set_ylabel(axis)
        if curve_name == "f1":
            unit(over, axis)
        over.legend(loc="best", reverse=True)
        groups = {
            appearances[n].label: [run.metrics["f1"] for run in runs] for n, runs in results.items()
        }
        draw_scores(final, groups, [appearances[name].colour for name in results])
        final.set_ylabel("F1 at the end, each run")
    return figure
