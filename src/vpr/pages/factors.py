"""Factors on pages: which are shown, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.three_d_shapes import ORIENTATIONS, SCALES

BALLS = ("red", "green", "cyan", "magenta", "yellow", "blue")
HUES = ("red", "orange", "lime", "green", "mint", "cyan", "blue", "indigo", "purple", "pink")
NAMES = {
    ("moving-ball", "colour"): BALLS,
    ("bouncing-balls", "colour"): BALLS,
    ("3dsd", "floor"): HUES,
    ("3dsd", "wall"): HUES,
    ("3dsd", "object"): HUES,
    ("3dsd", "scale"): tuple(f"{scale:.2f}" for scale in SCALES),
    ("3dsd", "shape"): ("cube", "cylinder", "sphere", "capsule"),
    ("3dsd", "orientation"): tuple(f"{angle:.0f}°".replace("-", "−") for angle in ORIENTATIONS),
}


def single_factors(factors: Iterable[str]) -> list[str]:
    """Factors without their parts: `colour-1` is part of `colour`."""
    names = list(factors)
    return [name for name in names if name.rpartition("-")[0] not in names]


def readable_factors(factors: dict[str, NDArray[Any]]) -> list[str]:
    """Factors (T, ...) whose values can be written; positions, for example, cannot."""
    return [
        name
        for name in single_factors(factors)
        if factors[name].ndim == 1 or factors[name].dtype.kind in "iu"
    ]


def factor_value(dataset: str, factor: str, values: NDArray[Any], t: int) -> str:
    """The value of a factor (T, ...) at frame t; "before → now" if it changed there."""
    names = NAMES.get((dataset, factor))
    before, now = (np.ravel(values[k]).tolist() for k in (max(t - 1, 0), t))
    return ", ".join(_step(names, *pair) for pair in zip(before, now, strict=True))


def _step(names: tuple[str, ...] | None, before: float, now: float) -> str:
    written = [names[int(each)] if names else f"{each:g}" for each in (before, now)]
    return written[1] if before == now else " → ".join(written)
