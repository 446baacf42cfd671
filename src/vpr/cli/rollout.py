"""`vpr rollout MODEL`: predictions of the next events of each level, and the true events."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.films import Table, add_film_options, keep_defaults, open_model, write_and_print
from vpr.cli.options import add_number

DESCRIPTION = """\
Observe a new sequence, then predict the next events of each level while all other levels keep their
states. Writes a picture (PNG), a GIF and, with PyAV, an MP4. The first column is the last observed
frame. Rows: GT, the true frames at the next changes of the factor that the level follows; L1, L2,
…, the predictions of the level.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    add_film_options(parser)
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
    keep_defaults(parser)


def run(arguments: argparse.Namespace) -> int:
    from vpr.generation.rollout_film import rollout_film

    names = ("steps", "frames", "seed", "samples", "below")
    chosen = {name: getattr(arguments, name) for name in names}
    film = rollout_film(*open_model(arguments), **chosen)
    write_and_print("rollout", arguments, film, _table(film.facts))
    return 0


def _table(facts: dict[str, Any]) -> Table:
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
