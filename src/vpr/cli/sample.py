"""`vpr sample MODEL`: samples of one level while all other levels stay constant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.films import Table, add_film_options, keep_defaults, open_model, write_and_print
from vpr.cli.options import add_number

DESCRIPTION = """\
Observe a new sequence, then sample the state of each level while all other levels keep theirs.
Writes a picture (PNG), a GIF and, with PyAV, an MP4. The first column is the last observed frame.
Rows: GT, frames of other sequences; L1, L2, …, samples of the level.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    add_film_options(parser)
    add_number(parser, "--n", 12, "Samples per level.")
    parser.add_argument(
        "--past",
        action="store_true",
        help="Sample from the prediction given the past, instead of the prior without a past.",
    )
    keep_defaults(parser)


def run(arguments: argparse.Namespace) -> int:
    from vpr.generation.sample_film import sample_film

    names = ("n", "frames", "seed")
    chosen = {name: getattr(arguments, name) for name in names}
    film = sample_film(*open_model(arguments), **chosen, empty=not arguments.past)
    write_and_print("sample", arguments, film, _table(film.facts))
    return 0


def _table(facts: dict[str, Any]) -> Table:
    return Table(
        f"{facts['n']} samples after {facts['frames']} frames of {facts['data']}",
        ["level", "σ of the samples"],
        [[level["level"], level["std"]] for level in facts["levels"]],
    )
