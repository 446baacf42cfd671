"""Rows of the main results, in which the results of several experiments stand side by side."""

from __future__ import annotations

from vpr.experiments.runner.base import Controls, Result


def f1_row(dataset: str, factor: str) -> str:
    return f"{dataset}: F1, {factor} changes"


def prediction_row(dataset: str, factor: str) -> str:
    return f"{dataset}: accuracy of 200 predicted events, {factor}"


def controls_of(runs: list[Result], factor: str = "") -> Controls:
    """F1 of the controls, from metrics such as `random_f1_wall`."""
    name = f"f1_{factor}" if factor else "f1"
    periodic, random = (
        [run.metrics[f"{kind}_{name}"] for run in runs] for kind in Controls._fields
    )
    return Controls(periodic, random)
