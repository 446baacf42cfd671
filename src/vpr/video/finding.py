"""Find pieces of footage in files, folders and globs, in a stable order."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from vpr.errors import VPRError
from vpr.video.image_folder import IMAGES, natural

# Suffixes that are found in folders; a file that is named itself may have any suffix.
# fmt: off
VIDEOS = frozenset([
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif", ".ts", ".mts", ".m2ts",
    ".mpg", ".mpeg", ".vob", ".ogv", ".wmv", ".asf", ".flv", ".3gp", ".3g2", ".mxf",
    ".y4m", ".h264", ".264", ".h265", ".265", ".hevc", ".ivf", ".apng", ".npy", ".npz",
])
# fmt: on
ARRAYS = frozenset([".npy", ".npz"])

PathLike = str | os.PathLike[str]


def find_footage(named: PathLike | Iterable[PathLike]) -> list[str]:
    """Pieces of footage for `open_footage`, without duplicates.

    A folder is expanded to the videos and arrays in it and its subfolders; a folder with pictures
    and no videos is one piece. Hidden files, files of other types, named pipes and devices in a
    folder are skipped. URLs, devices, `-` and missing files given by name are returned unchanged.
    """
    every = [named] if isinstance(named, str | os.PathLike) else named
    return list(dict.fromkeys(piece for each in every for piece in _pieces(os.fspath(each))))


def is_address(name: str) -> bool:
    """Whether it is a URL, a device or standard input."""
    return name == "-" or "://" in name or name.startswith("/dev/")


def images_in(folder: Path) -> list[Path]:
    """The pictures in a folder, in natural order."""
    return sorted((path for path in _files(folder) if _kind(path) in IMAGES), key=natural)


def _pieces(name: str) -> Iterator[str]:
    if is_address(name):
        yield name
    elif os.path.isdir(name):
        yield from map(str, _in_folder(Path(name)))
    elif glob.has_magic(name) and not os.path.lexists(name):
        yield from _matching(name)
    else:
        yield name


def _matching(pattern: str) -> Iterator[str]:
    """Footage that matches a glob."""
    found = sorted(map(Path, glob.glob(pattern, recursive=True)), key=_by_name)
    known = [
        path
        for path in found
        if path.is_dir() or (_kind(path) in VIDEOS | IMAGES and not _is_special(path))
    ]
    if not known:
        raise VPRError(f"{pattern} matches no footage: check the path and its quotes")
    for path in known:
        yield from map(str, _in_folder(path)) if path.is_dir() else [str(path)]


def _in_folder(folder: Path) -> list[Path]:
    found = list(_walk(folder))
    if not found:
        raise VPRError(f"{folder} has no footage: add videos, arrays or pictures")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    inside = _files(folder)
    videos = [path for path in inside if _kind(path) in VIDEOS]
    if not videos and any(_kind(path) in IMAGES for path in inside):
        yield folder
    yield from sorted(videos, key=natural)
    for path in sorted(inside, key=natural):
        if path.is_dir() and not path.is_symlink():  # links may be circular
            yield from _walk(path)


def _files(folder: Path) -> list[Path]:
    try:
        inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
        return [path for path in inside if not _is_special(path)]
    except OSError as error:
        raise VPRError(f"cannot read folder {folder}: {error.strerror}") from error


def _is_special(path: Path) -> bool:
    """Whether it is a named pipe, a device or a socket, whose reading might never end."""
    try:
        mode = path.stat().st_mode
    except OSError:  # a broken link: opening it gives the reason
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _by_name(path: Path) -> tuple[str, list[tuple[int, str]]]:
    return str(path.parent), natural(path)


def _kind(path: Path) -> str:
    return path.suffix.lower()
