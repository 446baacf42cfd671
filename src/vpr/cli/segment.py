"""`vpr segment PATH…`: footage into events, as tables, chapters and pages."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.cli.flags import finite, numbers
from vpr.cli.main import Command
from vpr.cli.show import print_json, print_table, progress_bars, tell
from vpr.errors import VPRError

if TYPE_CHECKING:
    from vpr.model import VPR
    from vpr.segmenting.batch import Outcome, Wish
    from vpr.segmenting.targets import Target
    from vpr.segmenting.workers import Show

DESCRIPTION = """\
Find the events of each piece of footage, at every level above the first, and write for NAME:

  NAME.html           a page to look at, which needs no network
  NAME.csv            one row an event: frame, time, level, kind, score
  NAME.json           all of it, with the curves that decided; vpr.Timeline.from_json reads it
  NAME.level2.vtt     chapters of a level, for browsers and players
  NAME.level2.ffmeta  the same with exact times, for ffmpeg

A folder keeps its structure. What is finished is skipped, as long as footage, model and settings
are the same. What is broken is told of and does not stop the rest; the exit code is then 1.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    add = parser.add_argument
    add(
        "paths",
        metavar="PATH",
        nargs="+",
        help="A video, a folder of videos or pictures, a glob, .npy or .npz, a URL.",
    )
    add("--model", required=True, help="A run folder, a shipped model or a hub id.")
    add("--out", type=Path, default=Path("events"), help="Folder for the results. [events]")
    add(
        "--threshold",
        type=finite,
        metavar="X",
        help="γ: how many times more than usual a belief must move to be unexpected. More means "
        "fewer events. [the model's]",
    )
    add("--levels", type=numbers, metavar="N,N,…", help="Which levels to report. [all from 2]")
    add(
        "--min-gap",
        type=finite,
        metavar="SECONDS",
        default=0.0,
        help="Of two events of a level that are closer than this, keep only the stronger. [0]",
    )
    add(
        "--sweep",
        action="store_true",
        help="Instead of events, draw how many there are at each level under 13 values of γ, to "
        "choose a --threshold by looking: NAME.sweep.png and NAME.sweep.csv. --levels and "
        "--min-gap play no part.",
    )
    add(
        "--fit",
        choices=("letterbox", "crop", "stretch"),
        help="Where footage has other proportions than the model. [as in training, or letterbox]",
    )
    add("--rate", type=finite, metavar="FPS", help="Of pictures and arrays, which have none. [25]")
    add("--jobs", type=int, default=1, help="Pieces at a time, a process and a core each. [1]")
    add("--force", action="store_true", help="Do again what is finished.")


def run(arguments: argparse.Namespace) -> int:
    from vpr.segmenting.batch import Outcome, Wish, finished
    from vpr.segmenting.targets import find
    from vpr.utils.threads import use_threads

    if arguments.jobs < 1:
        raise VPRError(f"jobs must be 1 or more, got {arguments.jobs}")
    use_threads(1)
    wish = Wish(
        arguments.model,
        arguments.out,
        arguments.threshold,
        arguments.levels,
        arguments.min_gap,
        arguments.fit,
        arguments.rate,
        arguments.sweep,
    )
    model = wish.checked()
    stamps = wish.stamps(model)
    found = find(arguments.paths, stamps.taken)
    outcomes = [Outcome(what, "failed", trouble=words) for what, words in found.failed.items()]
    outcomes += [] if arguments.force else finished(found.targets, stamps)
    known = {outcome.source for outcome in outcomes}
    todo = [target for target in found.targets if target.source not in known]
    for outcome in outcomes:
        _complain(outcome)
    with progress_bars([Path(target.source).name for target in todo]) as advance:

        def show(number: int, done: int, expected: int | None) -> None:
            advance(number, done, max(expected or 0, done + 1), "frames")

        for number, outcome in _run(todo, wish, model, arguments.jobs, show):
            advance(number, max(outcome.frames, 1), max(outcome.frames, 1), "frames")
            _complain(outcome)
            outcomes.append(outcome)
    return _tell(outcomes, arguments)


def _run(
    todo: list[Target], wish: Wish, model: VPR, jobs: int, show: Show
) -> Iterator[tuple[int, Outcome]]:
    from vpr.segmenting.workers import run_here, run_side_by_side

    if min(jobs, len(todo)) > 1:
        return run_side_by_side(todo, wish, jobs, show)
    return run_here(todo, wish, model, show)


def _complain(outcome: Outcome) -> None:
    if outcome.trouble is not None:
        tell(f"vpr: {' '.join(outcome.trouble.split())}")


def _tell(outcomes: list[Outcome], arguments: argparse.Namespace) -> int:
    """The result, and what failed in one line at the end."""
    unwell = [outcome for outcome in outcomes if not outcome.well]
    if arguments.json:
        print_json(
            {
                "model": arguments.model,
                "out": str(arguments.out),
                "pieces": [asdict(outcome) for outcome in outcomes],
                "failed": len(unwell),
            }
        )
    else:
        _print(outcomes, arguments)
    if unwell:
        names = ", ".join(outcome.source for outcome in unwell)
        tell(f"vpr: {len(unwell)} of {len(outcomes)} failed or are damaged: {names}")
    return 1 if unwell else 0


def _print(outcomes: list[Outcome], arguments: argparse.Namespace) -> None:
    levels = sorted({name for outcome in outcomes for name in outcome.events} - {"gammas"})
    print_table(
        f"Events that {arguments.model} found",
        ["footage", "", "frames", "seconds", *(f"level {level}" for level in levels)],
        [
            [
                outcome.source,
                outcome.status,
                outcome.frames or "",
                f"{outcome.seconds:.2f}" if outcome.frames else "",
                *(_count(outcome.events.get(level, "")) for level in levels),
            ]
            for outcome in outcomes
        ],
    )
    if any(outcome.files for outcome in outcomes):
        ending = ".sweep.png" if arguments.sweep else ".html"
        pages = [name for outcome in outcomes for name in outcome.files if name.endswith(ending)]
        print(
            f"Open {arguments.out / pages[0]} to see it." if len(pages) == 1 else _many(arguments)
        )


def _many(arguments: argparse.Namespace) -> str:
    return f"Files: {arguments.out}"


def _count(events: Any) -> str:
    """Of a level; of a sweep, from the least to the most."""
    return f"{min(events)} to {max(events)}" if isinstance(events, list) else str(events)


COMMAND = Command("Find the events in footage.", declare, run)
