"""The common part of `vpr rollout` and `vpr sample`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vpr.cli.options import add_data, add_model, add_number, add_out_folder
from vpr.cli.show import file_stem, prepare_for_few, print_json, print_table, progress_bar, tell
from vpr.data import Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

UNNAMED = ("help", "model", "path", "out", "json", "debug")  # options that are not in the file name


Declare = Callable[[argparse.ArgumentParser, Sequence[str]], None]
Run = Callable[[argparse.Namespace], int]


class Table(NamedTuple):
    """The table that a command prints."""

    title: str
    columns: list[str]
    rows: list[list[object]]


class FilmKind(NamedTuple):
    """What differs between the two commands."""

    name: str
    description: str
    declare: Callable[[argparse.ArgumentParser], None]  # its own options
    make: Callable[[argparse.Namespace, VPR, Dataset, Sequence[int]], Film]
    table: Callable[[dict[str, Any]], Table]


def film_command(kind: FilmKind) -> tuple[Declare, Run]:
    """The functions `declare` and `run` of a command."""

    def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
        parser.description = kind.description
        _declare(parser)
        kind.declare(parser)
        defaults = {a.dest: a.default for a in parser._actions if a.dest not in UNNAMED}
        parser.set_defaults(defaults=defaults)

    def run(arguments: argparse.Namespace) -> int:
        from vpr.generation.film_files import film_files, write_film

        film = kind.make(arguments, *_open(arguments))
        name = "-".join([file_stem(kind.name, arguments.model), *_variant(arguments)])
        files = film_files(arguments.out, name)
        with progress_bar(len(files)) as advance:
            write_film(film, files, advance)
        if "mp4" not in files:
            tell("No MP4 without PyAV: pip install 'vpr-torch[video]'.")
        if arguments.json:
            print_json(film.facts | {ending: str(path) for ending, path in files.items()})
        else:
            print_table(*kind.table(film.facts))
            print(f"Wrote {', '.join(map(str, files.values()))}.")
        return 0

    return declare, run


def _variant(arguments: argparse.Namespace) -> list[str]:
    """The options that differ from their defaults, for the file name."""
    given = {name: getattr(arguments, name) for name in arguments.defaults}
    return [
        name if value is True else f"{name}-{value}"
        for name, value in given.items()
        if value != arguments.defaults[name]
    ]


def _declare(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_data(parser)
    parser.add_argument("--level", type=int, metavar="N", help="Show only this level. [all]")
    add_number(parser, "--frames", 30, "Frames that the model observes first.")
    add_number(parser, "--seed", 1, "Random seed.")
    add_out_folder(parser, Path(), "the pictures")


def _open(arguments: argparse.Namespace) -> tuple[VPR, Dataset, list[int]]:
    """The model, its data, and the levels to show."""
    from vpr.pretrained import data_for, load_model

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data, arguments.path)
    prepare_for_few(data)
    every = list(range(1, model.config.levels + 1))
    return model, data, every if arguments.level is None else [arguments.level]
