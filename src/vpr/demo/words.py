"""How the page calls things: levels, and values of factors that mean little as numbers."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.rooms import ORIENTATIONS, SCALES
from vpr.demo.run import Demo

BALLS = ("red", "green", "cyan", "magenta", "yellow", "blue")
HUES = ("red", "orange", "lime", "green", "mint", "cyan", "blue", "indigo", "purple", "pink")
WORDS = {
    ("moving-ball", "colour"): BALLS,
    ("bouncing-balls", "colour"): BALLS,
    ("3dsd", "floor"): HUES,
    ("3dsd", "wall"): HUES,
    ("3dsd", "object"): HUES,
    ("3dsd", "scale"): tuple(f"{scale:.2f}" for scale in SCALES),
    ("3dsd", "shape"): ("cube", "cylinder", "sphere", "capsule"),
    ("3dsd", "orientation"): tuple(f"{angle:.0f}°".replace("-", "−") for angle in ORIENTATIONS),
}


def level_name(demo: Demo, level: int, factor: str) -> str:
    """After the word "level": its number, and what it should follow where there are several."""
    return f"{level} · {escape(factor)}" if factor and len(demo.pooled) > 1 else str(level)


def value(dataset: str, factor: str, values: NDArray[Any], t: int) -> str:
    """Of a factor (T, ...) at frame t, with what it was before if it just changed."""
    words = WORDS.get((dataset, factor))
    before, now = (np.ravel(values[k]).tolist() for k in (max(t - 1, 0), t))
    return ", ".join(_step(words, *pair) for pair in zip(before, now, strict=True))


def _step(words: tuple[str, ...] | None, before: float, now: float) -> str:
    told = [words[int(each)] if words else f"{each:g}" for each in (before, now)]
    return told[1] if before == now else " → ".join(told)
