"""`vpr report MODEL`: a page about each level of a trained model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.cli.model_and_data import open_model_and_data, sequence_length
from vpr.cli.options import add_data, add_model, add_sequences
from vpr.cli.show import file_stem, print_json, print_message, print_table, progress_bar
from vpr.errors import VPRError

if TYPE_CHECKING:
    from vpr.pages.report import Report
    from vpr.training.checkpoint import RunFolder

DESCRIPTION = """\
Write one HTML page that opens offline: update rates and criteria of each level, which factors it
represents, its rollouts and samples as animations, events in sequences with the values compared,
and the curves of training.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    add_model(parser)
    add_data(parser)
    shown = "HTML page. [report.html in the run folder, or report-MODEL.html]"
    parser.add_argument("--out", metavar="FILE", type=Path, help=shown)
    add_sequences(parser, sequences=128, seed=1)


def run(arguments: argparse.Namespace) -> int:
    from vpr.data import unseen
    from vpr.pages.report import report_json, report_page, run_report
    from vpr.training.checkpoint import RunFolder
    from vpr.utils.files import step_lines, write_text

    model, data = open_model_and_data(arguments, few=False)
    length = sequence_length(arguments, unseen(data))
    folder = RunFolder(arguments.model)
    unfinished = _unfinished(folder)
    if unfinished is not None:
        print_message("The model was trained for {:,} of {:,} steps.".format(*unfinished))
    with progress_bar(arguments.sequences) as advance:
        report = run_report(
            model,
            data,
            run=arguments.model,
            training=step_lines(folder.metrics) if folder.metrics.exists() else [],
            sequences=arguments.sequences,
            length=length,
            seed=arguments.seed,
            unfinished=unfinished,
            on_progress=lambda done: advance(done, "sequences"),
        )
    here = Path(file_stem("report", arguments.model) + ".html")
    out = arguments.out or (folder.report if folder.exists() else here)
    write_text(out, report_page(report))
    if arguments.json:
        print_json(report_json(report) | {"report": str(out)})
    else:
        _print(report)
        print(f"Open {out} in a browser.")
    return 0


def _unfinished(folder: RunFolder) -> tuple[int, int] | None:
    """Steps done and intended, if fewer were done; its preset may have more than the run."""
    from vpr.presets import PRESETS

    try:
        step, config = int(folder.load().notes["step"]), folder.config()
    except VPRError:  # no run, or one of an older version
        return None
    original = PRESETS.get(config.preset, config)
    intended = max(config.training.steps, original.training.steps)
    return (step, intended) if step < intended else None


def _print(report: Report) -> None:
    print_table(
        f"Levels of {report.run} on {report.sequences} sequences of {report.dataset}",
        ["level", "rate", "event length", "KL", *_factors(report)],
        [
            [
                level.level,
                level.update_rate,
                level.lengths.mean if level.lengths.events else "–",
                level.kl,
                *(factor.probe[level.level - 1] for factor in report.factors),
            ]
            for level in report.levels
        ],
    )


def _factors(report: Report) -> list[str]:
    return [f"probe of {factor.name}" for factor in report.factors]
