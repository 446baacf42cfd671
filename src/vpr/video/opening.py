"""Open any kind of footage as a source of frames."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.utils.files import error_reason
from vpr.video.array_files import is_array
from vpr.video.arrays import ArrayFrames
from vpr.video.container import Container
from vpr.video.finding import PathLike, find_footage, images_in, is_address
from vpr.video.fit import Fit
from vpr.video.frames import Source
from vpr.video.image_folder import ImageFolder
from vpr.video.pyav import Opening
from vpr.video.rates import Rate, as_rate
from vpr.video.raw_pipe import RawPipe


def open_footage(
    what: PathLike | NDArray[Any],
    *,
    fit: Fit | None = None,
    rate: Rate | None = None,
    size: tuple[int, int] | None = None,
    format: str | None = None,
    options: dict[str, str] | None = None,
    threads: int = 1,
) -> Source:
    """Open one piece of footage as frames with times.

    Args:
        what: A video, a folder of pictures, a `.npy` or `.npz` file, an array, a URL or device, or
            `-` for standard input. Files are recognised by their content.
        fit: Scales pictures while they are read.
        rate: Frames per second of footage without times; the default is 25.
        size: Width and height of raw rgb24 frames on standard input; without it, a video.
        format: Input format of PyAV.
        options: Options of PyAV.
        threads: Threads that decode a video.
    """
    if isinstance(what, np.ndarray):
        return ArrayFrames("an array", what, as_rate(rate), fit)
    name = os.fspath(what)
    if name == "-" and size is not None:
        return RawPipe("standard input", _standard_input(), size, as_rate(rate), fit)
    given = None if rate is None else as_rate(rate)
    opening = Opening(name, name, format, options, given, threads)
    if name == "-":
        return Container(opening._replace(name="standard input", what=_standard_input()), fit)
    if is_address(name) or format is not None:
        return Container(opening, fit)
    path = _single(name)
    if path.is_dir():
        return ImageFolder(name, images_in(path), as_rate(rate), fit)
    if _is_array(path):
        return ArrayFrames(name, path, as_rate(rate), fit)
    # With file: the path is not parsed, whatever colons and percent signs it has.
    return Container(opening._replace(what=f"file:{path.absolute()}"), fit)


def _standard_input() -> IO[bytes]:
    """Another file object: Python cannot exit while a thread reads `sys.stdin`."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (AttributeError, OSError):  # it was replaced
        return sys.stdin.buffer


def _single(name: str) -> Path:
    """The only piece of a file, folder or glob."""
    pieces = find_footage(name)
    if len(pieces) != 1:
        raise VPRError(f"{name} has {len(pieces)} pieces of footage: open them one by one")
    return Path(pieces[0])


def _is_array(path: Path) -> bool:
    try:
        return is_array(path)
    except FileNotFoundError:
        raise VPRError(f"{path} does not exist") from None
    except OSError as error:
        raise VPRError(f"{path} cannot be read: {error_reason(error)}") from error
