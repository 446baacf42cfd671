"""The files of a film: a sheet, a GIF, an MP4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vpr.data.pictures import save_images
from vpr.generation.film import Film
from vpr.generation.film_sheet import animation, sheet
from vpr.video.mp4 import can_write_mp4, write_mp4

FRAME_MS = 300  # milliseconds per picture
OnProgress = Callable[[int, str], None]  # files written, name of the next


def film_files(folder: Path, name: str) -> dict[str, Path]:
    """Paths by kind; `mp4` only with PyAV."""
    kinds = {"sheet": "png", "gif": "gif"} | ({"mp4": "mp4"} if can_write_mp4() else {})
    return {kind: folder / f"{name}.{ending}" for kind, ending in kinds.items()}


def write_film(film: Film, files: dict[str, Path], on_progress: OnProgress) -> None:
    """Write the files that `film_files` names."""
    pictures = animation(film)
    for number, (kind, path) in enumerate(files.items()):
        on_progress(number, path.name)
        if kind == "sheet":
            save_images(path, [sheet(film)])
        elif kind == "gif":
            save_images(path, pictures, FRAME_MS)
        else:
            write_mp4(path, pictures, FRAME_MS)
    on_progress(len(files), "done")
