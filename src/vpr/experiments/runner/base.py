"""What an experiment is: settings to run at each seed, a figure, and claims of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["cpu", "paper", "tiny"]
SCALES: dict[Scale, str] = {
    "cpu": "learns on two CPU cores; what differs from the paper stands beside the numbers",
    "paper": "the paper's sizes and steps; days without a GPU",
    "tiny": "seconds; shows that everything runs, measures nothing",
}

Advance = Callable[[int, int, str], None]  # done, of how much, a note


class Stopped(BaseException):
    """Somebody asked to stop; what is done is kept, and the same command goes on."""


class Result(NamedTuple):
    """One run of one setting: what `VARIANT-sSEED.json` holds."""

    variant: str
    seed: int
    config: dict[str, Any]
    provenance: dict[str, dict[str, str]]  # of the measurement and, if any, of the training
    seconds: float
    metrics: dict[str, Any]


Results = dict[str, list[Result]]  # variant → its runs, by seed


class Claim(NamedTuple):
    """A line of the table: what the paper says of something, and what we measured, run by run."""

    what: str
    paper: str
    ours: list[float]
    setting: str  # what differs from the paper
    percent: bool = False
    digits: int = 4  # after the point; not of a percentage


class Measured(NamedTuple):
    """Metrics of a run, its time over all sessions, and where the trained model comes from."""

    metrics: dict[str, Any]
    seconds: float
    trained: dict[str, str] | None = None  # see `vpr.utils.provenance`


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper, made by one command."""

    name: str
    title: str
    cost: str  # of one run at scale cpu, in words
    variants: Callable[[Scale], dict[str, Any]]  # name → configuration, a dataclass
    measure: Callable[[Any, int, Path, Advance], Measured]  # configuration, seed, folder for runs
    draw: Callable[[Results], Figure]
    claims: Callable[[Results], list[Claim]]
    seeds: int = 5  # at which each variant is run unless the command says otherwise
