"""Data types of experiments: variants, results of runs, claims and statements of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["cpu", "paper", "tiny"]
SCALES: dict[Scale, str] = {
    "cpu": "sizes for two CPU cores; the footnotes list the differences from the paper",
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


class Published(NamedTuple):
    """A number in the paper: mean ± standard deviation over seeds."""

    mean: float
    std: float
    source: str = ""  # if it is not the paper itself

    def __str__(self) -> str:
        source = f" ({self.source})" if self.source else ""
        return f"{self.mean:.2f} ± {f'{self.std:.3f}'.removesuffix('0')}{source}"


class Controls(NamedTuple):
    """F1 of the detected number of boundaries, placed at regular intervals and at random."""

    periodic: list[float]
    random: list[float]


class Claim(NamedTuple):
    """A row of a table: a quantity, its value in the paper, and ours for each run."""

    what: str
    paper: Published | str
    ours: list[float]
    setting: str  # differences from the paper
    percent: bool = False
    digits: int = 4  # decimal places, except of a percentage
    controls: Controls | None = None
    main: str = ""  # row of the main results that shows it, if any
    method: str = "VPR"  # column of the main results


class Statement(NamedTuple):
    """A statement of the paper without a number, and whether our results agree."""

    text: str
    holds: bool
    numbers: str  # the measured values that decide it
    runs: int  # of the group with the fewest runs


def no_statements(results: Results) -> list[Statement]:
    return []


class Measured(NamedTuple):
    """Metrics of a run, its total time, and the provenance of the trained model."""

    metrics: dict[str, Any]
    seconds: float
    trained: dict[str, str] | None = None  # see `vpr.utils.provenance`


@dataclass(frozen=True)
class Experiment:
    """One figure or table, made by one command."""

    name: str
    paper: str  # where it is in the paper, or "" if it is not
    title: str
    cost: str  # description of the cost of one run at scale cpu
    variants: Callable[[Scale], dict[str, Any]]  # name → configuration, a dataclass
    measure: Callable[[Any, int, Path, Advance], Measured]  # configuration, seed, folder of runs
    draw: Callable[[Results], Figure]
    claims: Callable[[Results], list[Claim]]
    statements: Callable[[Results], list[Statement]] = no_statements
    seeds: int = 5  # default number of seeds per variant
