"""Scores of each level against the changes of its factor: metrics, figure and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vpr.experiments.runner.experiment import Claim, Published, Results
from vpr.experiments.runner.result_metrics import controls_of, f1_row, metric
from vpr.experiments.runner.settings import describe
from vpr.experiments.runner.training_runs import Record, record_steps
from vpr.experiments.shared.panels import draw_curve, draw_scores, score_axis
from vpr.utils.figures import LEVEL_COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Factors = Mapping[int, str]  # level → factor
SCORES = ("f1", "precision", "recall", "fpr", "f1_near")


def level_scores(factors: Factors) -> Callable[[Record], dict[str, Any]]:
    """A function that extracts scores, controls and curves of each level from a record."""

    def extract_metrics(record: Record) -> dict[str, Any]:
        evaluation = record["evaluation"]
        found: dict[str, Any] = {}
        curves: dict[str, Any] = {"step": record_steps(record)}
        for level, factor in factors.items():
            found |= _final(evaluation, str(level), factor)
            curves |= _curves(record, str(level), factor)
        mean = sum(found[f"f1_{factor}"] for factor in factors.values()) / len(factors)
        rest = {"time_to_f1": record["time_to_f1"], "curve": curves}
        return {"f1": mean} | found | {"elbo": evaluation["elbo"]} | rest

    return extract_metrics


def _final(evaluation: dict[str, Any], level: str, factor: str) -> dict[str, float]:
    scored = evaluation["levels"][level]
    controls = evaluation["controls"][level]
    return (
        {f"{name}_{factor}": scored[factor][name] for name in SCORES}
        | {
            f"{name}_{score}_{factor}": each[factor][score]
            for name, each in controls.items()
            for score in ("f1", "f1_near")
        }
        | {f"update_rate_{level}": scored["update_rate"]}
    )


def _curves(record: Record, level: str, factor: str) -> dict[str, list[float]]:
    values = [each["levels"][level] for each in record["looks"]]
    return {f"{name}_{factor}": [each[name] for each in values] for name in ("f1", "recall", "fpr")}


def draw_levels(results: Results, factors: Factors) -> Figure:
    """F1 of each level over training, and the final F1."""
    (runs,) = results.values()
    names = [f"level {level}, {factor}" for level, factor in factors.items()]
    colours = LEVEL_COLOURS[: len(factors)]
    with panels(2) as (figure, (over, final)):
        for factor, name, colour in zip(factors.values(), names, colours, strict=True):
            draw_curve(over, runs, f"f1_{factor}", colour, name)
        over.set_xlabel("training step")
        score_axis(over, "F1")
        over.legend(loc="lower right")
        f1 = [metric(runs, f"f1_{factor}") for factor in factors.values()]
        groups = dict(zip(names, f1, strict=True))
        draw_scores(final, groups, colours)
        final.set_ylabel("final F1 of each run")
    return figure


def level_claims(
    results: Results, factors: Factors, dataset: str, paper: Published | str, score: str = "f1"
) -> list[Claim]:
    """F1 of each level at the exact frame or, as `f1_near`, within one frame."""
    near = " within one frame" if score == "f1_near" else ""
    return [
        Claim(
            f"{dataset}, level-{level} F1{near}, {factor} changes",
            paper,
            metric(runs, f"{score}_{factor}"),
            describe(runs),
            controls=controls_of(runs, factor, score),
            main="" if near else f1_row(dataset, factor),
        )
        for runs in results.values()
        for level, factor in factors.items()
    ]
