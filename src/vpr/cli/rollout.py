"""`vpr rollout RUN`: each level jumps from event to event, under the events that really came."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from vpr.cli.films import declare_film, finish_film, open_film
from vpr.cli.main import Command
from vpr.cli.show import print_table

DESCRIPTION = """\
Watch an unseen sequence for a while, then let each level jump to its next events while all others
hold their states. Writes a sheet (PNG), a GIF and, with PyAV, an MP4. In the first column is the
frame seen last, on top (GT) the truth at the next changes of what the level follows, under it (L1,
L2, …) the level's jumps.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    declare_film(parser)
    parser.add_argument("--steps", type=int, default=12, help="Jumps of each level. [12]")
    parser.add_argument(
        "--samples", action="store_true", help="Draw each state, instead of taking its mean."
    )
    parser.add_argument(
        "--empty",
        action="store_true",
        help="Without their past, the levels below do not hold, but guess anew at each jump.",
    )


def run(arguments: argparse.Namespace) -> int:
    from vpr.films import rollout_film

    model, data, levels = open_film(arguments)
    film = rollout_film(
        model,
        data,
        levels,
        steps=arguments.steps,
        frames=arguments.frames,
        seed=arguments.seed,
        samples=arguments.samples,
        empty=arguments.empty,
    )
    return finish_film("rollout", film, arguments, _print)


def _print(facts: dict[str, Any]) -> None:
    print_table(
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


COMMAND = Command("See each level jump to its next events.", declare, run)
