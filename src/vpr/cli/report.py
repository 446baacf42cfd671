"""`vpr report RUN`: what a trained hierarchy does, level by level, as one page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.cli.main import Command
from vpr.cli.show import file_stem, prepare, print_json, print_table, progress_bar
from vpr.data import DATASETS

if TYPE_CHECKING:
    from vpr.pages.report import Report

DESCRIPTION = """\
Write one HTML page that opens without a network: how often each level updates and why, which factor
lives on which level, rollouts and samples of each as moving pictures, event strips with the values
that decided, and the curves of training.
"""


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("model", metavar="RUN", help="A run folder, a shipped model or a hub id.")
    parser.add_argument("--data", help=f"Instead of the run's own: {', '.join(DATASETS)}.")
    parser.add_argument(
        "--out", type=Path, help="Page. [RUN/report.html; without a folder report-RUN.html]"
    )
    parser.add_argument("--sequences", type=int, default=128, help="How many sequences. [128]")
    parser.add_argument("--length", type=int, default=50, help="Frames in each. [50]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of sequences and draws. [1]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.pages.report import report_json, report_page, run_report
    from vpr.pretrained import data_for, load_model
    from vpr.training.checkpoint import RunFolder
    from vpr.utils.files import step_lines, write_text

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data)
    prepare(data)
    folder = RunFolder(arguments.model)
    with progress_bar(arguments.sequences) as advance:
        report = run_report(
            model,
            data,
            run=arguments.model,
            training=step_lines(folder.metrics) if folder.metrics.exists() else [],
            sequences=arguments.sequences,
            length=arguments.length,
            seed=arguments.seed,
            on_progress=lambda done: advance(done, "sequences"),
        )
    here = Path(file_stem("report", arguments.model) + ".html")
    out = arguments.out or (folder.report if folder.exists() else here)
    write_text(out, report_page(report))
    if arguments.json:
        print_json(report_json(report) | {"report": str(out)})
    else:
        _print(report)
        print(f"Open {out} to see it.")
    return 0


def _print(report: Report) -> None:
    print_table(
        f"Levels of {report.run} on {report.sequences} sequences of {report.dataset}",
        ["level", "update rate", "frames an event", "KL", *_factors(report)],
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
    return [f"tells {factor.name}" for factor in report.factors]


COMMAND = Command("Write a page of what each level of a run does.", declare, run)
