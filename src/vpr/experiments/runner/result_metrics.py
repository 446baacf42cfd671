"""Metrics of several runs, for claims, statements and figures."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from vpr.experiments.runner.experiment import Controls, Result


def metric(runs: Iterable[Result], *path: object) -> list[Any]:
    """A metric of each run, by its path: `metric(runs, "levels", 2, "f1")`."""
    return [reduce(lambda found, key: found[str(key)], path, run.metrics) for run in runs]


def controls_of(runs: list[Result], factor: str = "", score: str = "f1") -> Controls:
    """F1 of the controls, from metrics such as `random_f1_wall`."""
    name = f"{score}_{factor}" if factor else score
    return Controls(*(metric(runs, f"{kind}_{name}") for kind in Controls._fields))


def f1_row(dataset: str, factor: str) -> str:
    """A row of the main results, in which the results of several experiments stand side by side."""
    return f"{dataset}: F1, {factor} changes"


def prediction_row(dataset: str, factor: str) -> str:
    return f"{dataset}: accuracy of 200 predicted events, {factor}"
