"""The common part of `vpr rollout` and `vpr sample`: options, model and data, files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vpr.cli.model_and_data import open_model_and_data
from vpr.cli.options import add_data, add_model, add_number, add_out_folder
from vpr.cli.show import file_stem, print_json, print_message, print_table, progress_bar
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

# Options that are not in the file name.
NOT_IN_FILE_NAME = ("help", "model", "path", "out", "json", "debug")


class Table(NamedTuple):
    """The table that a command prints."""

    title: str
    columns: list[str]
    rows: list[list[object]]


def add_film_options(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_data(parser)
    parser.add_argument("--level", type=int, metavar="N", help="Show only this level. [all]")
    add_number(parser, "--frames", 30, "Frames that the model observes first.", least=2)
    add_number(parser, "--seed", 1, "Random seed.")
    add_out_folder(parser, Path(), "the pictures")


def keep_defaults(parser: argparse.ArgumentParser) -> None:
    """Store the defaults of all options, which `write_and_print` compares with the values."""
    defaults = {a.dest: a.default for a in parser._actions if a.dest not in NOT_IN_FILE_NAME}
    parser.set_defaults(defaults=defaults)


def open_model(arguments: argparse.Namespace) -> tuple[VPR, Dataset, list[int]]:
    """The model, its data, and the levels to show."""
    model, data = open_model_and_data(arguments, few=True)
    every = list(range(1, model.config.levels + 1))
    return model, data, every if arguments.level is None else [arguments.level]


def write_and_print(command: str, arguments: argparse.Namespace, film: Film, table: Table) -> None:
    """Write the pictures, and print the table, or with --json the facts."""
    from vpr.generation.film import film_files, write_film

    name = "-".join([file_stem(command, arguments.model), *_changed_options(arguments)])
    files = film_files(arguments.out, name)
    with progress_bar(len(files)) as advance:
        write_film(film, files, advance)
    if "mp4" not in files:
        print_message("No MP4 without PyAV: pip install 'vpr-torch[video]'.")
    if arguments.json:
        print_json(film.facts | {ending: str(path) for ending, path in files.items()})
    else:
        print_table(*table)
        print(f"Wrote {', '.join(map(str, files.values()))}.")


def _changed_options(arguments: argparse.Namespace) -> list[str]:
    """The options that differ from their defaults, for the file name."""
    given = {name: getattr(arguments, name) for name in arguments.defaults}
    return [
        name if value is True else f"{name}-{value}"
        for name, value in given.items()
        if value != arguments.defaults[name]
    ]
