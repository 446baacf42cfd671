"""What `vpr rollout` and `vpr sample` share: all but their own flags, film and table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vpr.cli.main import Command
from vpr.cli.show import file_stem, prepare_for_few, print_json, print_table, progress_bar, tell
from vpr.data import DATASETS, Dataset

if TYPE_CHECKING:
    from vpr.generation.film import Film
    from vpr.model import VPR

APART = ("help", "model", "out", "json", "debug")  # in the name already, or no matter to the film


class Table(NamedTuple):
    """The facts of a film, for people."""

    title: str
    columns: list[str]
    rows: list[list[object]]


class FilmKind(NamedTuple):
    """What is a command's own."""

    name: str
    help: str
    description: str
    declare: Callable[[argparse.ArgumentParser], None]  # its flags
    make: Callable[[argparse.Namespace, VPR, Dataset, Sequence[int]], Film]
    table: Callable[[dict[str, Any]], Table]


def film_command(kind: FilmKind) -> Command:
    def declare(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
        parser.description = kind.description
        _declare(parser)
        kind.declare(parser)
        usual = {each.dest: each.default for each in parser._actions if each.dest not in APART}
        parser.set_defaults(usual=usual)

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

    return Command(kind.help, declare, run)


def _variant(arguments: argparse.Namespace) -> list[str]:
    """What was asked for beside the usual, so that one variant's files are not another's."""
    asked = {name: getattr(arguments, name) for name in arguments.usual}
    return [
        name if value is True else f"{name}-{value}"
        for name, value in asked.items()
        if value != arguments.usual[name]
    ]


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="RUN", help="A run folder, a shipped model or a hub id.")
    parser.add_argument("--data", help=f"Instead of the run's own: {', '.join(DATASETS)}.")
    parser.add_argument("--level", type=int, metavar="N", help="Only this level. [all]")
    parser.add_argument("--frames", type=int, default=30, help="Frames watched before. [30]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of sequence and draws. [1]")
    parser.add_argument("--out", type=Path, default=Path(), help="Folder for the pictures. [.]")


def _open(arguments: argparse.Namespace) -> tuple[VPR, Dataset, list[int]]:
    """The model, its data, and the levels that were asked for."""
    from vpr.pretrained import data_for, load_model

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data)
    prepare_for_few(data)
    every = list(range(1, model.config.levels + 1))
    return model, data, every if arguments.level is None else [arguments.level]
