"""Files of numpy arrays, `.npy` and `.npz`, read from front to back.

They are read in order rather than mapped into memory: pages of a mapped file would count as memory
of this process, and grow with the file.
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

# What a damaged archive brings: the last two are a false password and a false kind of compression.
DAMAGE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError)


class Layout(NamedTuple):
    """What an array holds."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def is_array(path: Path) -> bool:
    """Going by its first bytes, whatever its name."""
    with path.open("rb") as file:
        start = file.read(6)
    return start == npy.MAGIC_PREFIX or (start[:4] == b"PK\x03\x04" and _is_npz(path))


def _is_npz(path: Path) -> bool:
    try:
        return bool(_members(path))
    except DAMAGE:
        return path.suffix == ".npz"  # then opening it says that it is broken


def _members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [each for each in archive.namelist() if each.endswith(".npy")]


@contextmanager
def opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    """The bytes of the one array in a file."""
    try:
        zipped = zipfile.is_zipfile(path)
        with path.open("rb") as file:
            if not zipped:
                yield file
                return
            members = _members(path)
            if len(members) != 1:
                words = f"{name} holds {len(members)} arrays: save the frames as the only one"
                raise VPRError(words)
            with zipfile.ZipFile(file) as archive, archive.open(members[0]) as member:
                yield member
    except DAMAGE as error:
        raise VPRError(f"{name} cannot be read ({error}): save it again") from error


def header(file: IO[bytes], name: str) -> Layout:
    """What stands before the numbers; the file is left at the first of them."""
    try:
        version = npy.read_magic(file)
        parse = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, columns_first, dtype = parse(file)
    except Exception as error:  # numpy reads it as Python, which fails in any way there is
        raise VPRError(f"{name} is no whole array file: save it again") from error
    if columns_first:
        raise VPRError(f"{name} is in Fortran order: save it through np.ascontiguousarray")
    return Layout(shape, dtype)


def read(file: IO[bytes], size: int) -> bytes:
    """So many bytes, or as many as there are before the end or the damage."""
    try:
        return file.read(size)
    except DAMAGE:
        return b""
