"""What `vpr rollout` and `vpr sample` share: the flags of a film, and its files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.cli.show import file_stem, prepare_for_few, print_json, progress_bar, tell
from vpr.data import DATASETS, Dataset

if TYPE_CHECKING:
    from vpr.films import Film
    from vpr.model import VPR


def declare_film(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="RUN", help="A run folder, a shipped model or a hub id.")
    parser.add_argument("--data", help=f"Instead of the run's own: {', '.join(DATASETS)}.")
    parser.add_argument("--level", type=int, metavar="N", help="Only this level. [all]")
    parser.add_argument("--frames", type=int, default=30, help="Frames watched before. [30]")
    parser.add_argument("--seed", type=int, default=1, help="Seed of sequence and draws. [1]")
    parser.add_argument("--out", type=Path, default=Path(), help="Folder for the pictures. [.]")


def open_film(arguments: argparse.Namespace) -> tuple[VPR, Dataset, list[int]]:
    """The model, its data, and the levels that were asked for."""
    from vpr.checkpoint import data_for, load_model

    model = load_model(arguments.model)
    data = data_for(arguments.model, arguments.data)
    prepare_for_few(data)
    every = list(range(1, model.config.levels + 1))
    return model, data, every if arguments.level is None else [arguments.level]


def finish_film(
    command: str, film: Film, arguments: argparse.Namespace, show: Callable[[dict[str, Any]], None]
) -> int:
    """Write the files, and tell of them; `show` prints the facts for people."""
    from vpr.films import film_files, write_film

    files = film_files(arguments.out, file_stem(command, arguments.model))
    with progress_bar(len(files)) as advance:
        write_film(film, files, advance)
    if "mp4" not in files:
        tell("No MP4 without PyAV: pip install 'vpr-torch[video]'.")
    if arguments.json:
        print_json(film.facts | {kind: str(path) for kind, path in files.items()})
    else:
        show(film.facts)
        print(f"Wrote {', '.join(map(str, files.values()))}.")
    return 0
