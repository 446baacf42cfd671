"""Each level of a hierarchy against the changes of the factor it should follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vpr.experiments.runner.base import Claim, Result, Results
from vpr.experiments.runner.settings import setting
from vpr.experiments.runner.trained import Record, steps
from vpr.experiments.shared.panels import BOTH, OTHERS, curve, draw_band, draw_scores, panels, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Factors = Mapping[int, str]  # level → the factor whose changes are its events
INKS = (BOTH, OTHERS[1], OTHERS[0])  # of levels 2, 3, 4
SCORES = ("f1", "precision", "recall", "fpr")


def level_scores(factors: Factors) -> Callable[[Record], dict[str, Any]]:
    """Takes of a record the final scores of each level, its controls and its curves."""

    def pick(record: Record) -> dict[str, Any]:
        evaluation = record["evaluation"]
        found: dict[str, Any] = {}
        curves: dict[str, Any] = {"step": steps(record)}
        for level, factor in factors.items():
            found |= _final(evaluation, str(level), factor)
            curves |= _curves(record, str(level), factor)
        mean = sum(found[f"f1_{factor}"] for factor in factors.values()) / len(factors)
        rest = {"time_to_f1": record["time_to_f1"], "curve": curves}
        return {"f1": mean} | found | {"elbo": evaluation["elbo"]} | rest

    return pick


def _final(evaluation: dict[str, Any], level: str, factor: str) -> dict[str, float]:
    scored = evaluation["levels"][level]
    controls = evaluation["controls"][level]
    return (
        {f"{name}_{factor}": scored[factor][name] for name in SCORES}
        | {f"{name}_f1_{factor}": each[factor]["f1"] for name, each in controls.items()}
        | {f"update_rate_{level}": scored["update_rate"]}
    )


def _curves(record: Record, level: str, factor: str) -> dict[str, list[float]]:
    looks = [look["levels"][level] for look in record["looks"]]
    return {f"{name}_{factor}": [look[name] for look in looks] for name in ("f1", "recall", "fpr")}


def draw_levels(results: Results, factors: Factors) -> Figure:
    """F1 of each level over training, and at the end."""
    (runs,) = results.values()
    names = [f"level {level}, {factor}" for level, factor in factors.items()]
    inks = INKS[: len(factors)]
    with panels(2) as (figure, (over, final)):
        for factor, name, ink in zip(factors.values(), names, inks, strict=True):
            draw_band(over, [curve(run, f"f1_{factor}") for run in runs], ink, name)
        over.set_xlabel("training step")
        unit(over, "F1")
        over.legend(loc="lower right")
        groups = {
            name: f1(runs, factor) for name, factor in zip(names, factors.values(), strict=True)
        }
        draw_scores(final, groups, inks)
        final.set_ylabel("F1 at the end, each run")
    return figure


def level_claims(results: Results, factors: Factors, world: str, paper: str) -> list[Claim]:
    return [
        Claim(
            f"{world}, level-{level} F1, {factor} changes", paper, f1(runs, factor), setting(runs)
        )
        for runs in results.values()
        for level, factor in factors.items()
    ]


def f1(runs: list[Result], factor: str) -> list[float]:
    return [run.metrics[f"f1_{factor}"] for run in runs]
