"""`vpr data NAME`: look at a dataset."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vpr.cli.flags import add_config_flags, apply_flags
from vpr.cli.main import Command
from vpr.cli.show import prepare, prepare_for_few, print_json, print_table
from vpr.data import DATASETS, dataset, evaluation_rng
from vpr.errors import VPRError

MANY = 32  # sequences; fewer need so few rooms of 3dsd that rendering all would take longer


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="NAME", help=f"One of {', '.join(DATASETS)}.")
    parser.add_argument("--out", type=Path, default=Path(), help="Folder for the pictures. [.]")
    parser.add_argument("--sequences", type=int, default=4, help="How many sequences. [4]")
    parser.add_argument("--length", type=int, default=35, help="Frames in each. [35]")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the sequences. [0]")
    parser.usage = "vpr data NAME [--out FOLDER] [--FIELD VALUE …]"
    parser.epilog = "With NAME, its own fields are flags too: vpr data video --path clip.mp4"
    chosen = next((DATASETS[word] for word in words if word in DATASETS), None)
    if chosen is not None:
        add_config_flags(parser, chosen, words)


def run(arguments: argparse.Namespace) -> int:
    from vpr.data.pictures import write_gif, write_sheet

    data = apply_flags(dataset(arguments.name), vars(arguments))
    if arguments.sequences < 1 or arguments.length < 2:
        raise VPRError("a sheet needs 1 sequence or more of 2 frames or more")
    if arguments.sequences > MANY:
        prepare(data)
    else:
        prepare_for_few(data)
    rng = evaluation_rng(arguments.seed)
    batch = data.batch(arguments.sequences, arguments.length, rng)
    sheet = arguments.out / f"{arguments.name}.png"
    gif = arguments.out / f"{arguments.name}.gif"
    write_sheet(sheet, batch)
    write_gif(gif, batch)
    rates = {name: float(marks[:, 1:].mean()) for name, marks in batch.changes.items()}
    if arguments.json:
        files = {"sheet": str(sheet), "gif": str(gif)}
        print_json({"frame": list(data.frame), "change_rates": rates} | files)
    else:
        title = f"{arguments.name}, frames {data.frame}"
        if rates:
            print_table(title, ["factor", "changes a frame"], [*rates.items()])
        else:
            print(f"{title}, without labels.")
        print(f"Wrote {sheet} and {gif}.")
    return 0


COMMAND = Command("Look at a dataset: a picture sheet and a GIF.", declare, run)
