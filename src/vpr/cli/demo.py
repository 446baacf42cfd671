"""`vpr demo MODEL`: events that a model finds in new sequences, as tables and a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.cli.model_and_data import open_model_and_data, sequence_length
from vpr.cli.options import MODEL_HELP, add_data, add_sequences
from vpr.cli.show import file_stem, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from vpr.pages.demo.summary_table import Row
    from vpr.pages.sequence_data import SequenceData

DEFAULT = "moving-ball"


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    shown = f"{MODEL_HELP} [{DEFAULT}]"
    # Both have one destination. Without a default, the positional does not overwrite --model.
    parser.add_argument("model", metavar="MODEL", nargs="?", default=argparse.SUPPRESS, help=shown)
    parser.add_argument("--model", default=DEFAULT, help="MODEL as an option.")
    add_data(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="HTML page. [demo.html, or demo-MODEL.html]"
    )
    parser.add_argument(
        "--gif",
        metavar="FILE",
        type=Path,
        help="Also write an animation of the first sequence; needs matplotlib.",
    )
    add_sequences(parser, sequences=4, seed=1)


def run(arguments: argparse.Namespace) -> int:
    from vpr.data import unseen
    from vpr.pages.demo import demo_json, demo_page, run_demo, summary_rows
    from vpr.utils.files import write_text

    model, data = open_model_and_data(arguments, few=True)
    demo = run_demo(
        model,
        data,
        sequences=arguments.sequences,
        length=sequence_length(arguments, unseen(data)),
        seed=arguments.seed,
    )
    out = arguments.out or _page_of(arguments.model)
    write_text(out, demo_page(demo))
    files = {"page": str(out)}
    if arguments.gif:
        _write_gif(arguments.gif, demo.clips[0])
        files["gif"] = str(arguments.gif)
    if arguments.json:
        print_json(demo_json(demo) | files)
    else:
        _print(summary_rows(demo))
        print(f"Open {out} in a browser.")
    return 0


def _write_gif(path: Path, clip: SequenceData) -> None:
    from vpr.pages.demo.demo_animation import write_animation

    with progress_bar(len(clip.frames)) as advance:
        write_animation(path, clip, lambda done: advance(done, "frames of the animation"))


def _page_of(model: str) -> Path:
    return Path(file_stem("demo", "" if model == DEFAULT else model) + ".html")


def _print(rows: list[Row]) -> None:
    """A table for each level, because each should follow another factor."""
    for level, factor in dict.fromkeys((row.level, row.factor) for row in rows):
        title = f"Changes of {factor} that level {level} detected"
        columns = COLUMNS if factor else UNLABELLED
        cells = [_cells(row, columns) for row in rows if row.level == level]
        print_table(title if factor else f"Events of level {level}", list(columns), cells)


COLUMNS = {
    "sequence": "sequence",
    "true": "changes",
    "found": "found",
    "missed": "missed",
    "false": "false",
    "CE": "expected",
    "CU": "unexpected",
    "both": "both",
    "F1": "f1",
}

UNLABELLED = {
    "sequence": "sequence",
    "events": "detected",
    "CE": "expected",
    "CU": "unexpected",
    "both": "both",
}


def _cells(row: Row, columns: dict[str, str]) -> list[object]:
    cells = row._asdict() | {"sequence": row.sequence or "all"}
    return [cells[field] for field in columns.values()]
