"""`vpr rollout MODEL`: predictions of the next events of each level, and the true events."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vpr.cli.films import FilmKind, Table, film_command
from vpr.cli.options import add_number
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

DESCRIPTION = """\
Observe a new sequence, then predict the next events of each level while all other levels keep their
states. Writes a picture (PNG), a GIF and, with PyAV, an MP4. The first column is the last observed
frame. Rows: GT, the true frames at the next changes of the factor that the level follows; L1, L2,
…, the predictions of the level.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--steps", 12, "Predictions per level.")
    parser.add_argument(
        "--samples", action="store_true", help="Sample each prediction instead of taking its mean."
    )
    parser.add_argument(
        "--below",
        choices=("held", "means", "samples"),
        default="held",
        help="Lower levels: held, or means or samples of the prior without a past. [held]",
    )


def make(arguments: argparse.Namespace, model: VPR, data: Dataset, levels: Sequence[int]) -> Film:
    from vpr.generation.rollout_film import rollout_film

    names = ("steps", "frames", "seed", "samples", "below")
    return rollout_film(model, data, levels, **{name: getattr(arguments, name) for name in names})


def table(facts: dict[str, Any]) -> Table:
    return Table(
        f"{facts['steps']} predictions after {facts['frames']} frames of {facts['data']}",
        ["level", "factor", "true events", "in frames", "σ of the predictions"],
        [
            [level["level"], level["factor"], len(level["events"]), _span(level), level["std"]]
            for level in facts["levels"]
        ],
    )


def _span(level: dict[str, Any]) -> str:
    events = level["events"]
    return f"{events[0]} to {events[-1]}" if events else ""


declare, run = film_command(FilmKind("rollout", DESCRIPTION, add_options, make, table))
