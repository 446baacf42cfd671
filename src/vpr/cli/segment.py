"""`vpr segment PATH…`: find events in footage; writes tables, chapters and pages."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.cli.options import (
    add_executor,
    add_footage,
    add_out_folder,
    chosen_executor,
    finite,
    numbers,
    time_above_zero,
)
from vpr.cli.show import print_json, print_line, print_message, print_table, progress_bars
from vpr.segmenting.exports import FORMATS

ADAPT_SECONDS = 120.0  # seconds
TIME = re.compile(r"^-?[\d.]+(ms|s|min)?$")

if TYPE_CHECKING:
    from vpr.executors.executor import JobProgress
    from vpr.segmenting.batch import Outcome

DESCRIPTION = """\
Find the events in each piece of footage, for all levels from 2, and write for each NAME:

  NAME.html           page with the timeline; opens offline
  NAME.csv            table with one row per event: frame, time, level, kind, score
  NAME.json           everything, with the curves; read by vpr.Timeline.from_json
  NAME.level2.vtt     chapters of a level, for browsers and players
  NAME.level2.ffmeta  the same with exact times, for ffmpeg

With --export also NAME.eaf (ELAN), NAME.label-studio.json (predictions for Label Studio), NAME.otio
(OpenTimelineIO) and NAME.level2.edl (CMX 3600), for annotation tools and video editors.

Without --model, the shipped model footage detects transitions between shots; it needs
pip install 'vpr-torch[features]'. --adapt trains a model on the footage first, for two minutes.

Folders keep their structure. Finished files are skipped if footage, model and settings are the
same. Files that cannot be read are reported and do not stop the others; the exit code is then 1.
Several commands, also on several machines, can share --out: each piece is claimed by one of them.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    # Otherwise argparse takes -10s for an option, and does not say what is wrong with it.
    parser._negative_number_matcher = TIME
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = DESCRIPTION
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="Video, folder of videos or pictures, glob, .npy or .npz file, or URL.",
    )
    add_footage(parser)
    _add_adapt(parser, words)
    add_out_folder(parser, Path("events"), "the results")
    parser.add_argument(
        "--levels", type=numbers, metavar="N,N,…", help="Levels to report. [all from 2]"
    )
    parser.add_argument(
        "--min-gap",
        type=finite,
        metavar="SECONDS",
        default=0.0,
        help="Of two events of a level that are closer than this, keep only the stronger; "
        "a calibrated model has its own minimum. [0]",
    )
    _add_selection(parser)
    parser.add_argument(
        "--sweep",
        action="store_true",
        help="Count the events for 13 values of --threshold instead, to choose one: writes "
        "NAME.sweep.png and NAME.sweep.csv. Ignores --levels and --min-gap.",
    )
    parser.add_argument(
        "--export",
        metavar="LIST",
        help=f"Additional formats, separated by commas: {', '.join(FORMATS)}. [none]",
    )
    add_executor(parser, 1)
    parser.add_argument("--force", action="store_true", help="Do not skip finished files.")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Which events to report: `--probability`, `--events` or `--every`."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--probability",
        type=finite,
        metavar="P",
        help="Minimum probability of an event, for a calibrated model. [0.5]",
    )
    chosen.add_argument(
        "--events", type=int, metavar="N", help="Report the N strongest events of each level."
    )
    chosen.add_argument(
        "--every",
        type=time_above_zero,
        metavar="TIME",
        help="Report the strongest events of each level, on average one per TIME, such as 10s.",
    )


def _add_adapt(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """`--adapt` or `--adapt TIME`: a word after it that is not a time is a PATH."""
    how: dict[str, Any] = {"nargs": "?", "type": time_above_zero, "metavar": "TIME"}
    after = list(words)[list(words).index("--adapt") + 1 :] if "--adapt" in words else []
    if after and not TIME.match(after[0]):
        how = {"action": "store_const"}
    parser.add_argument(
        "--adapt",
        const=ADAPT_SECONDS,
        help="First train a model on this footage, for TIME including reading it: the model of "
        "--model, or a new one. It is saved next to the folder of --out, as OUT-model. [2min]",
        **how,
    )


def _adapted(arguments: argparse.Namespace) -> str:
    """The model to use: --model or the default, or with --adapt one trained on the footage."""
    if arguments.adapt is None:
        from vpr.pretrained import FOOTAGE

        return FOOTAGE if arguments.model is None else str(arguments.model)
    from vpr.segmenting.adapt import adapted_model

    with progress_bars(["Adapting:"]) as advance:
        folder = adapted_model(
            arguments.paths,
            arguments.out,
            arguments.adapt,
            arguments.model,
            force=arguments.force,
            on_progress=lambda note, done, total: advance(0, done, total, note),
        )
    again = shlex.join(["--model", str(folder)])
    print_message(f"Saved the model in {folder}. Reuse it with vpr segment … {again}.")
    return str(folder)


def run(arguments: argparse.Namespace) -> int:
    from vpr.segmenting.batch import Outcome, SegmentRequest, run_targets, skipped
    from vpr.segmenting.exports import parse_formats
    from vpr.segmenting.output_names import find_targets
    from vpr.segmenting.selection import Selection
    from vpr.utils.threads import use_threads

    executor = chosen_executor(arguments, arguments.out, reuse=True)
    use_threads(1)
    request = SegmentRequest(
        _adapted(arguments),
        arguments.out,
        arguments.threshold,
        arguments.levels,
        arguments.min_gap,
        arguments.fit,
        arguments.rate,
        arguments.sweep,
        selection=Selection(arguments.probability, arguments.events, arguments.every),
        export=parse_formats(arguments.export) if arguments.export else (),
    )
    model = request.load()
    completed = request.completed(model)
    found = find_targets(arguments.paths, completed.taken)
    outcomes = [Outcome(path, "failed", problem=error) for path, error in found.failed.items()]
    targets = arguments.shard.of(found.targets)
    outcomes += [] if arguments.force else skipped(targets, completed)
    known = {outcome.source for outcome in outcomes}
    todo = [target for target in targets if target.source not in known]
    for outcome in outcomes:
        _print_problem(outcome)
    with progress_bars([Path(target.source).name for target in todo]) as advance:

        def on_progress(now: JobProgress) -> None:
            advance(now.task, now.done, max(now.total or 0, now.done + 1), now.note)

        ended = run_targets(todo, request, executor, on_progress, force=arguments.force)
        for number, outcome in ended:
            if outcome.frames:
                advance(number, outcome.frames, outcome.frames, "frames")
            _print_problem(outcome)
            outcomes.append(outcome)
    return _print_results(outcomes, request.model, arguments)


def _print_problem(outcome: Outcome) -> None:
    if outcome.problem is not None:
        print_message(f"vpr: {' '.join(outcome.problem.split())}")


def _print_results(outcomes: list[Outcome], model: str, arguments: argparse.Namespace) -> int:
    """Print all outcomes, and a last line with those that failed; returns the exit code."""
    failed = [outcome for outcome in outcomes if not outcome.ok]
    elsewhere = sum(outcome.status == "elsewhere" for outcome in outcomes)
    if arguments.json:
        print_json(
            {
                "model": model,
                "out": str(arguments.out),
                "pieces": [outcome.as_json() for outcome in outcomes],
                "failed": len(failed),
            }
        )
    elif any(outcome.status != "failed" for outcome in outcomes):
        _print_table(outcomes, model, arguments)
    _print_warnings(outcomes)
    if elsewhere:
        print_message(f"{elsewhere} of {len(outcomes)} are being segmented by other processes.")
    if failed and len(outcomes) > 1:
        names = ", ".join(outcome.source for outcome in failed)
        print_message(f"vpr: {len(failed)} of {len(outcomes)} failed or are damaged: {names}")
    return 1 if failed else 0


def _print_warnings(outcomes: list[Outcome]) -> None:
    """Each warning once; it names the footage if it does not concern all of it."""
    for text in dict.fromkeys(text for outcome in outcomes for text in outcome.warnings):
        names = [outcome.source for outcome in outcomes if text in outcome.warnings]
        where = f" ({', '.join(names)})" if len(names) < len(outcomes) else ""
        print_message(f"Warning: {text}{where}")


def _print_table(outcomes: list[Outcome], model: str, arguments: argparse.Namespace) -> None:
    levels = sorted({name for outcome in outcomes for name in outcome.events} - {"gammas"})
    print_table(
        f"Events found by {model}",
        ["footage", "status", "frames", "seconds", *(f"level {level}" for level in levels)],
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
        several = f"Files: {arguments.out}"
        print_line(f"Open {arguments.out / pages[0]}." if len(pages) == 1 else several)


def _count(events: Any) -> str:
    """The number of events, or for a sweep the smallest and largest number."""
    return f"{min(events)} to {max(events)}" if isinstance(events, list) else str(events)
