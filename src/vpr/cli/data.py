"""`vpr data NAME`: show a dataset."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vpr.cli.config_flags import add_config_flags, apply_flags
from vpr.cli.model_and_data import prepare, prepare_for_few, sequence_length
from vpr.cli.options import add_out_folder, add_sequences
from vpr.cli.show import print_json, print_table
from vpr.data import DATASETS, dataset, evaluation_rng

# Number of sequences above which rendering all rooms of 3dsd is faster than rendering some.
PREPARE_ALL_ABOVE = 32


def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="NAME", help=f"Dataset: {', '.join(DATASETS)}.")
    add_out_folder(parser, Path(), "the pictures")
    add_sequences(parser, sequences=4, length=35, seed=0)
    parser.usage = "vpr data NAME [--out FOLDER] [--FIELD VALUE …]"
    parser.epilog = "The fields of the dataset are options too: vpr data video --path clip.mp4"
    chosen = next((DATASETS[word] for word in words if word in DATASETS), None)
    if chosen is not None:
        add_config_flags(parser, chosen, words)


def run(arguments: argparse.Namespace) -> int:
    from vpr.data.pictures import write_gif, write_sheet

    data = apply_flags(dataset(arguments.name), vars(arguments))
    if arguments.sequences > PREPARE_ALL_ABOVE:
        prepare(data)
    else:
        prepare_for_few(data)
    rng = evaluation_rng(arguments.seed)
    batch = data.batch(arguments.sequences, sequence_length(arguments, data), rng)
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
            print_table(title, ["factor", "changes per frame"], [*rates.items()])
        else:
            print(f"{title}, without labels.")
        print(f"Wrote {sheet} and {gif}.")
    return 0
