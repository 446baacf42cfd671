"""`vpr demo MODEL`: a model on fresh sequences, as a table for each level and as a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.cli.main import Command
from vpr.cli.show import file_stem, prepare_for_few, print_json, print_table
from vpr.data import DATASETS

if TYPE_CHECKING:
    from vpr.pages.demo.summary_table import Row

SHOWN = "moving-ball"  # where no model is named


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    models = f"A run folder, a shipped model or a hub id. [{SHOWN}]"
    # One destination for both: without the word on its own, what --model said must stand.
    parser.add_argument("model", metavar="MODEL", nargs="?", default=argparse.SUPPRESS, help=models)
    parser.add_argument("--model", default=SHOWN, help="The same, as a flag.")
    parser.add_argument("--data", help=f"Instead of the model's own: {', '.join(DATASETS)}.")
    parser.add_argument(
        "--out", type=Path, help="Page. [demo.html; of another model demo-MODEL.html]"
    )
    parser.add_argument("--sequences", type=int, default=4, help="How many sequences. [4]")
    parser.add_argument("--length", type=int, default=50, help="Frames in each. [50]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the sequences. [1]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.pages.demo import demo_json, demo_page, run_demo, summary_rows
    from vpr.pretrained import data_for, load_model
    from vpr.utils.files import write_text

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data)
    prepare_for_few(data)
    demo = run_demo(
        model,
        data,
        sequences=arguments.sequences,
        length=arguments.length,
        seed=arguments.seed,
    )
    out = arguments.out or _page_of(arguments.model)
    write_text(out, demo_page(demo))
    if arguments.json:
        print_json(demo_json(demo) | {"page": str(out)})
    else:
        _print(summary_rows(demo))
        print(f"Open {out} to see it.")
    return 0


def _page_of(model: str) -> Path:
    return Path(file_stem("demo", "" if model == SHOWN else model) + ".html")


def _print(rows: list[Row]) -> None:
    """A table for each level: each has a factor of its own to follow."""
    for level, factor in dict.fromkeys((row.level, row.factor) for row in rows):
        title = f"Changes of {factor} that level {level} detected"
        columns = COLUMNS if factor else UNJUDGED
        told = [_cells(row, columns) for row in rows if row.level == level]
        print_table(title if factor else f"Events of level {level}", list(columns), told)


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


# Where nobody knows the true changes.
UNJUDGED = {
    "sequence": "sequence",
    "events": "detected",
    "CE": "expected",
    "CU": "unexpected",
    "both": "both",
}


def _cells(row: Row, columns: dict[str, str]) -> list[object]:
    cells = row._asdict() | {"sequence": row.sequence or "all"}
    return [cells[field] for field in columns.values()]


COMMAND = Command("See a model find events in fresh sequences.", declare, run)
