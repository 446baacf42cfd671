"""Data types of experiments: variants, results of runs, claims for the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["cpu", "paper", "tiny"]
SCALES: dict[Scale, str] = {
    "cpu": "sizes for two CPU cores; the table lists the differences from the paper",
    "paper": "the paper's sizes and number of steps; takes days without a GPU",
    "tiny": "takes seconds; only checks that everything runs",
}

Advance = Callable[[int, int, str], None]  # done, total, note: progress of a run


class Stopped(BaseException):
    """A run was interrupted after saving its state; the same command resumes it."""


class Result(NamedTuple):
    """One run of one variant: the content of `VARIANT-sSEED.json`."""

    variant: str
    seed: int
    config: dict[str, Any]
    provenance: dict[str, dict[str, str]]  # of the measurement and, if any, of the training
    seconds: float
    metrics: dict[str, Any]


Results = dict[str, list[Result]]  # variant → its runs, by seed


class Claim(NamedTuple):
    """A row of the results table: a value of the paper, and ours for each run."""

    what: str
    paper: str
    ours: list[float]
    setting: str  # differences from the paper
    percent: bool = False
    digits: int = 4  # decimal places, except of a percentage


class Measured(NamedTuple):
    """Metrics of a run, its total time, and the provenance of the trained model."""

    metrics: dict[str, Any]
    seconds: float
    trained: dict[str, str] | None = None  # see `vpr.utils.provenance`


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper, made by one command."""

    name: str
    title: str
    cost: str  # description of the cost of one run at scale cpu
    variants: Callable[[Scale], dict[str, Any]]  # name → configuration, a dataclass
    measure: Callable[[Any, int, Path, Advance], Measured]  # configuration, seed, folder of runs
    draw: Callable[[Results], Figure]
    claims: Callable[[Results], list[Claim]]
    seeds: int = 5  # default number of seeds per variant
