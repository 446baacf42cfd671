"""`vpr sample RUN`: what else there could be at each level, all others held."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.films import declare_film, finish_film, open_film
from vpr.cli.main import Command
from vpr.cli.show import print_table

DESCRIPTION = """\
Watch an unseen sequence for a while, then draw the state of each level anew while all others hold
theirs. Writes a sheet (PNG), a GIF and, with PyAV, an MP4. In the first column is the frame seen
last, on top (GT) frames of other sequences, under it (L1, L2, …) what varies with the level.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    declare_film(parser)
    parser.add_argument("--n", type=int, default=12, metavar="N", help="Draws of each level. [12]")
    parser.add_argument(
        "--past",
        action="store_true",
        help="Draw what the level expected of the present, instead of all that it could be.",
    )


def run(arguments: argparse.Namespace) -> int:
    from vpr.films import sample_film

    model, data, levels = open_film(arguments)
    film = sample_film(
        model,
        data,
        levels,
        n=arguments.n,
        frames=arguments.frames,
        seed=arguments.seed,
        empty=not arguments.past,
    )
    return finish_film("sample", film, arguments, _print)


def _print(facts: dict[str, Any]) -> None:
    print_table(
        f"{facts['n']} draws after {facts['frames']} frames of {facts['data']}",
        ["level", "σ of the draws"],
        [[level["level"], level["std"]] for level in facts["levels"]],
    )


COMMAND = Command("See what varies at each level while the others hold.", declare, run)
