"""`vpr sample RUN`: what else there could be at each level, all others held."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vpr.cli.films import FilmKind, Table, film_command
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

HELP = "See what varies at each level while the others hold."
DESCRIPTION = """\
Watch an unseen sequence for a while, then draw the state of each level anew while all others hold
theirs. Writes a sheet (PNG), a GIF and, with PyAV, an MP4. In the first column is the frame seen
last, on top (GT) frames of other sequences, under it (L1, L2, …) what varies with the level.
"""


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n", type=int, default=12, metavar="N", help="Draws of each level. [12]")
    parser.add_argument(
        "--past",
        action="store_true",
        help="Draw what the level expected of the present, instead of all that it could be.",
    )


def make(arguments: argparse.Namespace, model: VPR, data: Dataset, levels: Sequence[int]) -> Film:
    from vpr.generation.sample_film import sample_film

    names = ("n", "frames", "seed")
    chosen = {name: getattr(arguments, name) for name in names}
    return sample_film(model, data, levels, **chosen, empty=not arguments.past)


def table(facts: dict[str, Any]) -> Table:
    return Table(
        f"{facts['n']} draws after {facts['frames']} frames of {facts['data']}",
        ["level", "σ of the draws"],
        [[level["level"], level["std"]] for level in facts["levels"]],
    )


COMMAND = film_command(FilmKind("sample", HELP, DESCRIPTION, declare, make, table))
