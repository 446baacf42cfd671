"""Recorded frames with labels in one file, which is written once and read in random windows.

The file is a `.npy` array of records (takes, frames), each a frame of bytes and its labels. It is
memory-mapped, so that processes share it and only the frames in use are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.utils.files import write_atomically

Records = NDArray[np.void]  # (takes, frames), of the fields `frame` and one for each label


class Layout(NamedTuple):
    """Record type and shape of a recording."""

    dtype: np.dtype[np.void]  # of one record
    shape: tuple[int, int]  # takes, frames per take


def record_type(frame: tuple[int, ...], labels: dict[str, Any]) -> np.dtype[np.void]:
    """The record of a frame of bytes and its labels."""
    return np.dtype([("frame", np.uint8, frame), *labels.items()], align=True)


def write_recording(path: Path, layout: Layout, takes: Iterable[Records]) -> None:
    """Write take by take, with one in memory at a time; an incomplete file is not kept."""
    dtype, (_, frames) = layout
    write_parts(path, dtype, (frames,), takes)


def write_parts(
    path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], parts: Iterable[NDArray[Any]]
) -> None:
    """Write an array from parts whose number is not known in advance."""

    def write(temporary: Path) -> None:
        count = 0
        with temporary.open("wb") as file:
            _write_header(file, dtype, (count, *shape))
            for count, part in enumerate(parts, start=1):  # noqa: B007 (the last is wanted)
                file.write(part.tobytes())
            file.seek(0)
            _write_header(file, dtype, (count, *shape))  # numpy leaves space for the number

    write_atomically(path, write)


def _write_header(file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(file, header)


def read_recording(path: Path, layout: Layout) -> Records | None:
    """The records of a file; None if it is missing or different."""
    try:
        records: Records = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    return records if Layout(records.dtype, records.shape) == layout else None


def random_windows(
    records: Records, count: int, length: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """Random windows: frames (count, length, *frame) in [0, 1], and their labels."""
    takes, available = records.shape
    if length > available:
        raise VPRError(
            f"the recording has takes of {available} frames, {length} are too many: use fewer"
        )
    take = rng.integers(takes, size=count)
    start = rng.integers(available - length + 1, size=count)
    frames = np.empty((count, length, *records["frame"].shape[2:]), dtype=np.float32)
    for window, k, first in zip(frames, take, start, strict=True):
        window[:] = records["frame"][k, first : first + length]
        window /= 255  # per window, while it is in the CPU cache
    where = take[:, None], start[:, None] + np.arange(length)
    names = records.dtype.names or ()
    return frames, {name: records[name][where] for name in names if name != "frame"}
