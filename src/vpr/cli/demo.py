"""`vpr demo`: the shipped model on fresh sequences, as a table and as a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vpr.cli.main import Command
from vpr.cli.show import print_json, print_table


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("--model", default="moving-ball", help="Run folder or model. [moving-ball]")
    parser.add_argument("--out", type=Path, default=Path("demo.html"), help="Page. [demo.html]")
    parser.add_argument("--sequences", type=int, default=4, help="How many sequences. [4]")
    parser.add_argument("--length", type=int, default=50, help="Frames in each. [50]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the sequences. [1]")


def run(arguments: argparse.Namespace) -> int:
    from vpr.checkpoint import load_model, trained_on
    from vpr.demo import as_json, page, run_demo, summary_columns, summary_rows
    from vpr.files import write_text

    model = load_model(arguments.model)
    demo = run_demo(
        model,
        trained_on(arguments.model),
        sequences=arguments.sequences,
        length=arguments.length,
        seed=arguments.seed,
    )
    write_text(arguments.out, page(demo))
    if arguments.json:
        print_json(as_json(demo) | {"page": str(arguments.out)})
    else:
        print_table("What the model detected", summary_columns(demo), summary_rows(demo))
        print(f"Open {arguments.out} to see it.")
    return 0


COMMAND = Command("See the shipped model find events in fresh sequences.", declare, run)
