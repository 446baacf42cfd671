"""Read `.npy` and `.npz` files sequentially.

They are not mapped into memory, because the pages of a mapped file count as memory of the process.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from vpr.errors import VPRError

# Errors of a damaged archive; RuntimeError is for passwords and unknown compression.
DAMAGE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError)


class Layout(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def is_array(path: Path) -> bool:
    """Whether the file starts like an array file, whatever its name."""
    with path.open("rb") as file:
        start = file.read(6)
    return start == npy.MAGIC_PREFIX or (start[:4] == b"PK\x03\x04" and _is_npz(path))


def _is_npz(path: Path) -> bool:
    try:
        return bool(_members(path))
    except DAMAGE:
        return path.suffix == ".npz"  # opening it then reports the damage


def _members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [each for each in archive.namelist() if each.endswith(".npy")]


@contextmanager
def open_array(path: Path, name: str) -> Iterator[IO[bytes]]:
    """The bytes of the one array in a file."""
    try:
        zipped = zipfile.is_zipfile(path)
        with path.open("rb") as file:
            if not zipped:
                yield file
                return
            members = _members(path)
            if len(members) != 1:
                message = f"{name} has {len(members)} arrays: save the frames as the only one"
                raise VPRError(message)
            with zipfile.ZipFile(file) as archive, archive.open(members[0]) as member:
                yield member
    except DAMAGE as error:
        raise VPRError(f"{name} cannot be read ({error}): save it again") from error


def header(file: IO[bytes], name: str) -> Layout:
    """Read the header; the file is then at the first value."""
    try:
        version = npy.read_magic(file)
        parse = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, columns_first, dtype = parse(file)
    except Exception as error:  # numpy parses it as Python, which can raise anything
        raise VPRError(f"{name} is not a complete array file: save it again") from error
    if columns_first:
        raise VPRError(f"{name} is in Fortran order: save np.ascontiguousarray of it")
    return Layout(shape, dtype)


def read(file: IO[bytes], size: int) -> bytes:
    """Read `size` bytes, or fewer at the end of the file or where it is damaged."""
    try:
        return file.read(size)
    except DAMAGE:
        return b""
