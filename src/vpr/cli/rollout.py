"""`vpr rollout RUN`: each level jumps from event to event, under the events that really came."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vpr.cli.films import FilmKind, Table, film_command
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

DESCRIPTION = """\
Watch an unseen sequence for a while, then let each level jump to its next events while all others
hold their states. Writes a sheet (PNG), a GIF and, with PyAV, an MP4. In the first column is the
frame seen last, on top (GT) the truth at the next changes of what the level follows, under it (L1,
L2, …) the level's jumps.
"""


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=12, help="Jumps of each level. [12]")
    parser.add_argument(
        "--samples", action="store_true", help="Draw each jump, instead of taking its mean."
    )
    parser.add_argument(
        "--below",
        choices=("held", "means", "samples"),
        default="held",
        help="Levels below hold, or have no past: their means or samples, at each jump. [held]",
    )


def make(arguments: argparse.Namespace, model: VPR, data: Dataset, levels: Sequence[int]) -> Film:
    from vpr.generation.rollout_film import rollout_film

    names = ("steps", "frames", "seed", "samples", "below")
    return rollout_film(model, data, levels, **{name: getattr(arguments, name) for name in names})


def table(facts: dict[str, Any]) -> Table:
    return Table(
        f"{facts['steps']} jumps after {facts['frames']} frames of {facts['data']}",
        ["level", "factor", "true events", "in frames", "σ of the predictions"],
        [
            [level["level"], level["factor"], len(level["events"]), _span(level), level["std"]]
            for level in facts["levels"]
        ],
    )


def _span(level: dict[str, Any]) -> str:
    events = level["events"]
    return f"{events[0]} to {events[-1]}" if events else ""


COMMAND = film_command(
    FilmKind(
        "rollout", "See each level jump to its next events.", DESCRIPTION, declare, make, table
    )
)
