"""`vpr demo`: the shipped model on fresh sequences, as a table and as a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vpr.cli.main import Command
from vpr.cli.show import prepare_for_few, print_json, print_table
from vpr.data import DATASETS

if TYPE_CHECKING:
    from vpr.demo.table import Row


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("--model", default="moving-ball", help="Run folder or model. [moving-ball]")
    parser.add_argument("--data", help=f"Instead of the model's own: {', '.join(DATASETS)}.")
    parser.add_argument("--out", type=Path, default=Path("demo.html"), help="Page. [demo.html]")
    parser.add_argument("--sequences", type=int, default=4, help="How many sequences. [4]")
    parser.add_argument("--length", type=int, default=50, help="Frames in each. [50]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the sequences. [1]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.checkpoint import data_for, load_model
    from vpr.demo import as_json, page, run_demo, summary_rows
    from vpr.files import write_text

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
    write_text(arguments.out, page(demo))
    if arguments.json:
        print_json(as_json(demo) | {"page": str(arguments.out)})
    else:
        title = f"Changes of {demo.factor} that the model detected"
        print_table(title, list(COLUMNS), [_cells(row) for row in summary_rows(demo)])
        print(f"Open {arguments.out} to see it.")
    return 0


COLUMNS = {
    "sequence": "sequence",
    "level": "level",
    "true": "changes",
    "found": "found",
    "missed": "missed",
    "false": "false",
    "CE": "expected",
    "CU": "unexpected",
    "both": "both",
    "F1": "f1",
}


def _cells(row: Row) -> list[object]:
    cells = row._asdict() | {"sequence": row.sequence or "all"}
    return [cells[field] for field in COLUMNS.values()]


COMMAND = Command("See the shipped model find events in fresh sequences.", declare, run)
