"""Arrays as footage, in memory or in a file that is read frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.video.array_files import Layout, header, open_array, read
from vpr.video.fit import Fit, untimed_frame
from vpr.video.frames import Frame, Picture
from vpr.video.pyav import MAX_PIXELS

FLOAT_TOLERANCE = 1e-3  # tolerance beyond [0, 1] for rounding


class ArrayFrames:
    """Frames (T, H, W) or (T, H, W, 1 or 3) of bytes, or of floats in [0, 1], at a given rate."""

    problem: str | None = None
    undecodable = 0

    def __init__(
        self, name: str, what: NDArray[Any] | Path, rate: Fraction, fit: Fit | None = None
    ) -> None:
        self.name, self.what, self.rate, self.fit = name, what, rate, fit
        if isinstance(what, Path):
            with open_array(what, name) as file:
                self.layout = header(file, name)
        else:
            self.layout = Layout(what.shape, what.dtype)
        _check(self.layout, name)
        self.expected: int | None = self.layout.shape[0]

    def __iter__(self) -> Iterator[Frame]:
        for number, values in enumerate(self._frames()):
            whole = _bytes(values, number, self.name).reshape(*values.shape[:2], -1)
            yield untimed_frame(whole, number, self.rate, self.fit)

    def _frames(self) -> Iterator[NDArray[Any]]:
        if not isinstance(self.what, Path):
            yield from self.what
            return
        with open_array(self.what, self.name) as file:
            (count, *shape), dtype = header(file, self.name)
            size = int(np.prod(shape)) * dtype.itemsize
            for number in range(count):
                data = read(file, size)
                if len(data) < size:
                    self.problem = f"{self.name} is cut short: {number} of {count} frames were read"
                    self.undecodable = count - number
                    if number == 0:
                        raise VPRError(f"{self.name} ends before its first frame")
                    return
                yield np.frombuffer(data, dtype).reshape(shape)


def _check(layout: Layout, name: str) -> None:
    shape, dtype = layout
    if dtype != np.uint8 and dtype.kind != "f":
        raise VPRError(f"{name} has type {dtype}: save uint8, or floats in [0, 1]")
    fits = len(shape) == 3 or (len(shape) == 4 and shape[3] in (1, 3))
    if not fits or (len(shape) == 3 and shape[2] in (1, 3)):
        vectors = ": it looks like vectors, for a model trained with vpr train cpu/vectors"
        raise VPRError(
            f"{name} must have shape (T, H, W) or (T, H, W, 1 or 3), not {shape}"
            + (vectors if len(shape) == 2 else "")
        )
    if shape[0] == 0:
        raise VPRError(f"{name} has no frames")
    if min(shape) < 0:
        raise VPRError(f"{name} has a negative size {shape}: save it again")
    if not 0 < shape[1] * shape[2] <= MAX_PIXELS:
        raise VPRError(f"{name} has frames of {shape[1]}×{shape[2]}: use between 1×1 and 8192×8192")


def _bytes(values: NDArray[Any], number: int, name: str) -> Picture:
    if values.dtype == np.uint8:
        return values
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):  # a NaN anywhere makes both NaN
        raise VPRError(f"{name} has NaN or infinity in frame {number}: replace them first")
    if low < -FLOAT_TOLERANCE or high > 1 + FLOAT_TOLERANCE:
        found = high if high > 1 + FLOAT_TOLERANCE else low
        raise VPRError(f"{name} has {found:g} in frame {number}: floats must be in [0, 1]")
    scaled: Picture = (values.astype(np.float32).clip(0, 1) * 255).round().astype(np.uint8)
    return scaled
