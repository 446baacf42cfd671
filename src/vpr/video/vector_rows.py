"""Sequences of vectors as footage: an array (T, F), or a `.npy` file of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.video.array_files import header, is_array, open_array, read
from vpr.video.frames import Frame


def is_vectors(what: object) -> bool:
    """Whether it is an array with two axes, or a file of one."""
    if isinstance(what, np.ndarray):
        return what.ndim == 2
    if not isinstance(what, str | os.PathLike):
        return False
    path = Path(what)
    if not path.is_file() or not is_array(path):
        return False
    with open_array(path, str(path)) as file:
        return len(header(file, str(path)).shape) == 2


class VectorRows:
    """The rows of an array (T, F), each as the picture of a frame, at a given rate."""

    problem: str | None = None
    undecodable = 0

    def __init__(self, what: str | os.PathLike[str] | NDArray[Any], rate: Fraction) -> None:
        self.name = "an array" if isinstance(what, np.ndarray) else os.fspath(what)
        self.what, self.rate = what, rate
        shape, dtype = self._layout()
        if 0 in shape:
            raise VPRError(f"{self.name} has shape {shape}: vectors over time need shape (T, F)")
        if dtype.kind not in "fiub":
            raise VPRError(f"{self.name} has type {dtype}: vectors need real numbers")
        self.expected: int | None = shape[0]

    def __iter__(self) -> Iterator[Frame]:
        for number, row in enumerate(self._rows()):
            if not np.isfinite(row).all():
                raise VPRError(f"{self.name} has NaN or infinite values in row {number}")
            yield Frame(row, number, number, 1 / self.rate)

    def _layout(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        if isinstance(self.what, np.ndarray):
            return self.what.shape, self.what.dtype
        with open_array(Path(self.what), self.name) as file:
            return header(file, self.name)

    def _rows(self) -> Iterator[NDArray[Any]]:
        if isinstance(self.what, np.ndarray):
            yield from self.what
            return
        with open_array(Path(self.what), self.name) as file:
            (count, size), dtype = header(file, self.name)
            for number in range(count):
                data = read(file, size * dtype.itemsize)
                if len(data) < size * dtype.itemsize:
                    self.problem = f"{self.name} is cut short: {number} of {count} rows were read"
                    self.undecodable = count - number
                    if number == 0:
                        raise VPRError(f"{self.name} ends before its first row")
                    return
                yield np.frombuffer(data, dtype)
