"""Rows of marks under the frames of a sequence: true changes, and detected events.

The shape shows the outcome (disc: found, cross: false, dashed ring: missed), the colour the
criterion.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vpr.events import Kind
from vpr.pages.sequence_data import frames_of
from vpr.pages.sequence_view import CELL, LANE, RULER, centre
from vpr.pages.svg import drawing, tag

RADIUS = 7.5
CSS_CLASS: dict[Kind, str] = {
    "expected": "ce",
    "unexpected": "cu",
    "both": "both",
    "clock": "clock",
}


def ruler(length: int) -> str:
    """The number of every fifth frame."""
    numbers = "".join(
        tag("text", str(t), x=centre(t), y=RULER - 5, class_="number") for t in range(0, length, 5)
    )
    return drawing(numbers, CELL * length, RULER, "frame numbers")


def truth_lane(factor: str, changed: NDArray[np.bool_]) -> str:
    """The true changes (T,) of a factor."""
    changes = frames_of(changed)
    content = guides(changes, LANE) + "".join(change(centre(t), LANE / 2) for t in changes)
    return drawing(content, CELL * len(changed), LANE, f"{factor} changed at {listed(changes)}")


def guides(changes: Sequence[int], height: float) -> str:
    """A vertical hairline at every true change."""
    return "".join(
        tag("line", x1=centre(t), x2=centre(t), y1=0, y2=height, class_="guide") for t in changes
    )


def change(x: float, y: float) -> str:
    """A true change: a triangle that points at its frame."""
    return tag("path", d=f"M{x:g} {y - 6:g}l7 12h-14z", class_="true")


def disc(x: float, y: float, kind: Kind) -> str:
    """An event that is a true change."""
    return tag("circle", cx=x, cy=y, r=RADIUS, class_=f"disc {CSS_CLASS[kind]}")


def cross(x: float, y: float, kind: Kind) -> str:
    """An event that is not a true change."""
    strokes = f"M{x - 6:g} {y - 6:g}l12 12m-12 0l12 -12"
    return tag("path", d=strokes, class_=f"cross {CSS_CLASS[kind]}")


def ring(x: float, y: float) -> str:
    """A true change without an event."""
    return tag("circle", cx=x, cy=y, r=RADIUS - 1, class_="ring")


def listed(frames: Sequence[int]) -> str:
    """Frame numbers as text: "frames 3, 7–9", or "no frame"."""
    if not frames:
        return "no frame"
    breaks = [i for i, (a, b) in enumerate(pairwise(frames), start=1) if b != a + 1]
    runs = [frames[a:b] for a, b in pairwise([0, *breaks, len(frames)])]
    return "frames " + ", ".join(
        str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs
    )
