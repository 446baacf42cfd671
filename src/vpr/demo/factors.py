"""Which factors the page tells at every frame, which once for a sequence, and which not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from vpr.demo.run import Demo


def moving(demo: Demo) -> list[str]:
    """Those that change, and those that a level should follow even where they never do."""
    followed = {level.factor for level in demo.clips[0].levels}
    return [
        name for name in readable(demo.clips[0].factors) if name in followed or _changes(demo, name)
    ]


def still(demo: Demo) -> list[str]:
    """Those that stay as they are in every sequence, though sequences may differ."""
    return [name for name in readable(demo.clips[0].factors) if name not in moving(demo)]


def readable(factors: dict[str, NDArray[Any]]) -> list[str]:
    """Of one sequence: a position is better seen than read."""
    return [
        name
        for name in whole(factors)
        if factors[name].ndim == 1 or factors[name].dtype.kind in "iu"
    ]


def whole(factors: Iterable[str]) -> list[str]:
    """`colour-1` is told already as part of `colour`."""
    names = list(factors)
    return [name for name in names if name.rpartition("-")[0] not in names]


def _changes(demo: Demo, name: str) -> bool:
    return any(clip.changes[name].any() for clip in demo.clips)
