"""The files of a film: a sheet, a GIF, an MP4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vpr.data.pictures import save
from vpr.generation.film import Film
from vpr.generation.film_sheet import moments, sheet
from vpr.video.mp4 import can_write_mp4, write_mp4

PAUSE = 300  # milliseconds a picture
Watch = Callable[[int, str], None]  # told how many files are there, and which comes next


def film_files(folder: Path, name: str) -> dict[str, Path]:
    """By kind; without PyAV there is no `mp4`."""
    kinds = {"sheet": "png", "gif": "gif"} | ({"mp4": "mp4"} if can_write_mp4() else {})
    return {kind: folder / f"{name}.{ending}" for kind, ending in kinds.items()}


def write_film(film: Film, files: dict[str, Path], watch: Watch) -> None:
    """`files` as `film_files` names them."""
    moving = moments(film)
    for number, (kind, path) in enumerate(files.items()):
        watch(number, path.name)
        if kind == "sheet":
            save(path, [sheet(film)])
        elif kind == "gif":
            save(path, moving, PAUSE)
        else:
            write_mp4(path, moving, PAUSE)
    watch(len(files), "done")
