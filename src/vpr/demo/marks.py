"""Lanes of marks under the frames: what truly changed, and what each level detected.

Shape tells the outcome (disc found, cross false, dashed ring missed), colour the criterion.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Kind
from vpr.demo.layout import CELL, LANE, RULER, centre
from vpr.demo.run import Clip, Detections, frames_of
from vpr.demo.svg import drawing, tag

RADIUS = 7.5
CRITERIA: dict[Kind, tuple[str, str]] = {  # CSS classes of the mark's two halves
    "expected": ("ce", "ce"),
    "unexpected": ("cu", "cu"),
    "both": ("ce", "cu"),
    "clock": ("clock", "clock"),
}


def ruler(length: int) -> str:
    """Frame numbers; every fifth, for room."""
    numbers = "".join(
        tag("text", str(t), x=centre(t), y=RULER - 5, class_="number") for t in range(0, length, 5)
    )
    return drawing(numbers, CELL * length, RULER, "frame numbers")


def truth_lane(factor: str, changed: NDArray[np.bool_]) -> str:
    """Of a factor that changed where `changed` (T,) says so."""
    changes = frames_of(changed)
    content = guides(changes, LANE) + "".join(change(centre(t), LANE / 2) for t in changes)
    return drawing(content, CELL * len(changed), LANE, f"{factor} changed at {listed(changes)}")


def level_lane(clip: Clip, level: Detections) -> str:
    missed = "".join(ring(centre(t), LANE / 2) for t in level.outcome.missed)
    shape = dict.fromkeys(level.outcome.false, cross)
    events = "".join(
        shape.get(b.frame, disc)(centre(b.frame), LANE / 2, b.kind) for b in level.boundaries
    )
    changes = frames_of(clip.changes[level.factor]) if level.factor else ()
    content = guides(changes, LANE) + missed + events
    return drawing(content, CELL * len(clip.frames), LANE, _said(level))


def _said(level: Detections) -> str:
    """The lane in words."""
    if not level.factor:
        return f"level {level.level}: events at {listed([b.frame for b in level.boundaries])}"
    found, lost, false = (listed(frames) for frames in level.outcome)
    return (
        f"level {level.level}: {level.factor} changes found at {found}; missed at {lost}; "
        f"false events at {false}"
    )


def guides(changes: Sequence[int], height: float) -> str:
    """A hairline at every true change, for the eye that goes down from the frame."""
    return "".join(
        tag("line", x1=centre(t), x2=centre(t), y1=0, y2=height, class_="guide") for t in changes
    )


def change(x: float, y: float) -> str:
    """A true change: a triangle that points at its frame."""
    return tag("path", d=f"M{x:g} {y - 6:g}l7 12h-14z", class_="true")


def disc(x: float, y: float, kind: Kind) -> str:
    left, right = CRITERIA[kind]
    top = f"M{x:g} {y - RADIUS:g}"
    return "".join(
        tag(
            "path", d=f"{top}a{RADIUS} {RADIUS} 0 0 {side} 0 {2 * RADIUS:g}z", class_=f"disc {name}"
        )
        for side, name in ((0, left), (1, right))
    )


def cross(x: float, y: float, kind: Kind) -> str:
    falling, rising = CRITERIA[kind]
    return "".join(
        tag("path", d=f"M{x - 6:g} {y - 6 * slope:g}l12 {12 * slope:g}", class_=f"cross {name}")
        for slope, name in ((1, falling), (-1, rising))
    )


def ring(x: float, y: float) -> str:
    return tag("circle", cx=x, cy=y, r=RADIUS - 1, class_="ring")


def listed(frames: Sequence[int]) -> str:
    """3, 7–9 and so on, or "no frame"."""
    if not frames:
        return "no frame"
    breaks = [i for i, (a, b) in enumerate(pairwise(frames), start=1) if b != a + 1]
    runs = [frames[a:b] for a, b in pairwise([0, *breaks, len(frames)])]
    return "frames " + ", ".join(
        str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs
    )
