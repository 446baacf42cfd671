"""Footage that is an array: in memory, or in a `.npy` or `.npz` file, read frame by frame.

Files are read in order rather than mapped into memory: pages of a mapped file would count as memory
of this process, and grow with the file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.files import why
from vpr.video.fit import Fit
from vpr.video.frames import Frame, Picture
from vpr.video.opened import LARGEST
from vpr.video.plain import plain_frame

NEAR = 1e-3  # how far beyond [0, 1] rounding may bring a number


class Layout(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Array:
    """Frames (T, H, W) or (T, H, W, 1 or 3) of bytes, or of floats in [0, 1], at a given rate."""

    trouble: str | None = None

    def __init__(
        self, name: str, what: NDArray[Any] | Path, rate: Fraction, fit: Fit | None = None
    ) -> None:
        self.name, self.what, self.rate, self.fit = name, what, rate, fit
        if isinstance(what, Path):
            with _opened(what, name) as file:
                self.layout = _header(file, name)
        else:
            self.layout = Layout(what.shape, what.dtype)
        _check(self.layout, name)
        self.expected: int | None = self.layout.shape[0]

    def __iter__(self) -> Iterator[Frame]:
        for number, values in enumerate(self._frames()):
            whole = _bytes(values, number, self.name).reshape(*values.shape[:2], -1)
            yield plain_frame(whole, number, self.rate, self.fit)

    def _frames(self) -> Iterator[NDArray[Any]]:
        if not isinstance(self.what, Path):
            yield from self.what
            return
        with _opened(self.what, self.name) as file:
            (count, *shape), dtype = _header(file, self.name)
            size = int(np.prod(shape)) * dtype.itemsize
            for number in range(count):
                data = _read(file, size)
                if len(data) < size:
                    self.trouble = f"{self.name} is cut short: {number} of {count} frames were read"
                    if number == 0:
                        raise VPRError(f"{self.name} breaks off before its first frame")
                    return
                yield np.frombuffer(data, dtype).reshape(shape)


def is_array(path: Path) -> bool:
    """Going by its first bytes, whatever its name."""
    with path.open("rb") as file:
        start = file.read(6)
    return start == npy.MAGIC_PREFIX or (start[:4] == b"PK\x03\x04" and _is_npz(path))


def _is_npz(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except zipfile.BadZipFile:
        return path.suffix == ".npz"  # then it says so itself that it is broken


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            if file.read(1) != b"P":
                file.seek(0)
                yield file
                return
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.namelist() if each.endswith(".npy")]
            if len(members) != 1:
                raise VPRError(
                    f"{name} holds {len(members)} arrays: save the frames as the only one"
                )
            with archive.open(members[0]) as member:
                yield member
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise VPRError(f"{name} cannot be read: {why(error)}") from error


def _header(file: IO[bytes], name: str) -> Layout:
    """What stands before the numbers; the file is left at the first of them."""
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, columns_first, dtype = read(file)
    except (ValueError, EOFError) as error:
        raise VPRError(f"{name} is no whole array file: save it again") from error
    if columns_first:
        raise VPRError(f"{name} is in Fortran order: save it through np.ascontiguousarray")
    return Layout(shape, dtype)


def _check(layout: Layout, name: str) -> None:
    shape, dtype = layout
    if dtype != np.uint8 and dtype.kind != "f":
        raise VPRError(f"{name} holds {dtype}: save bytes (uint8), or floats in [0, 1]")
    fits = len(shape) == 3 or (len(shape) == 4 and shape[3] in (1, 3))
    if not fits or (len(shape) == 3 and shape[2] in (1, 3)):
        raise VPRError(f"{name} must be (frames, height, width) or (…, 1 or 3), not {shape}")
    if shape[0] == 0:
        raise VPRError(f"{name} has no frames")
    if not 0 < shape[1] * shape[2] <= LARGEST:
        raise VPRError(
            f"{name} has frames of {shape[1]}×{shape[2]}: between 1 and 8192×8192 is read"
        )


def _bytes(values: NDArray[Any], number: int, name: str) -> Picture:
    if values.dtype == np.uint8:
        return values
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):  # a NaN anywhere is the least and greatest
        raise VPRError(f"{name} has NaN or infinity in frame {number}: replace them first")
    if low < -NEAR or high > 1 + NEAR:
        found = high if high > 1 + NEAR else low
        raise VPRError(f"{name} has {found:g} in frame {number}: floats must be in [0, 1]")
    scaled: Picture = (values.astype(np.float32).clip(0, 1) * 255).round().astype(np.uint8)
    return scaled


def _read(file: IO[bytes], size: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, zipfile.BadZipFile, zipfile.zlib.error):  # type: ignore[attr-defined]
        return b""
