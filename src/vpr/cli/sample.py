"""`vpr sample MODEL`: samples of one level while all other levels stay constant."""

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
Observe a new sequence, then sample the state of each level while all other levels keep theirs.
Writes a picture (PNG), a GIF and, with PyAV, an MP4. The first column is the last observed frame.
Rows: GT, frames of other sequences; L1, L2, …, samples of the level.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--n", 12, "Samples per level.")
    parser.add_argument(
        "--past",
        action="store_true",
        help="Sample from the prediction given the past, instead of the prior without a past.",
    )


def make(arguments: argparse.Namespace, model: VPR, data: Dataset, levels: Sequence[int]) -> Film:
    from vpr.generation.sample_film import sample_film

    names = ("n", "frames", "seed")
    chosen = {name: getattr(arguments, name) for name in names}
    return sample_film(model, data, levels, **chosen, empty=not arguments.past)


def table(facts: dict[str, Any]) -> Table:
    return Table(
        f"{facts['n']} samples after {facts['frames']} frames of {facts['data']}",
        ["level", "σ of the samples"],
        [[level["level"], level["std"]] for level in facts["levels"]],
    )


declare, run = film_command(FilmKind("sample", DESCRIPTION, add_options, make, table))
