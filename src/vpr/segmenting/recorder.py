"""Collects the evidence of every frame in compact arrays, and makes a timeline of it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from vpr.boundaries import LevelEvidence, boundaries
from vpr.errors import VPRError
from vpr.segmenting.keyframes import KeyFrames
from vpr.segmenting.min_gap import apply_min_gap
from vpr.segmenting.timeline import Curves, Event, Series, Timeline
from vpr.video.frames import Frame

NOT_EVALUATED = (math.nan,) * 3


class Recorder:
    """Stores three floats per level and frame, and one for its time: a few megabytes per hour."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self.times = array("d")
        self.events: list[Event] = []
        self.keyframes = KeyFrames()
        self._curves = {level: [array("f") for _ in range(3)] for level in range(2, levels + 1)}
        # First, last but one and last frame. Fractions are slow, so they are made only at the end.
        self._first = self._before = self._last = (0, Fraction(1))  # presentation time, time base

    def add(self, frame: Frame, seen: Sequence[LevelEvidence]) -> None:
        """Add a frame and the evidence of the levels that were evaluated, level 1 first."""
        number = len(self.times)
        self._add_time(number, frame)
        for level, curves in self._curves.items():
            values = seen[level - 1][:3] if level <= len(seen) else NOT_EVALUATED
            for curve, value in zip(curves, values, strict=True):
                curve.append(value)
        # At the first frame every level updates, which is not a boundary.
        found = boundaries(seen, number) if number else ()
        events = [Event.of(each, frame.time) for each in found]
        self.events += events
        self.keyframes.add(number, frame, events[-1] if events else None)

    def _add_time(self, number: int, frame: Frame) -> None:
        base = frame.time_base
        seconds = frame.pts * base.numerator / base.denominator  # one rounding, as for a fraction
        if number == 0:
            self._first = frame.pts, base
        elif seconds <= self.times[-1] and frame.time < _exact(self._last):
            raise VPRError(
                f"frame {number} is earlier than the frame before it: sort the frames by time"
            )
        self._before, self._last = self._last, (frame.pts, base)
        self.times.append(seconds)

    def timeline(self, source: str, model: str, levels: Sequence[int], gap: Fraction) -> Timeline:
        """The timeline of `levels`, without two events of one level closer than `gap` seconds."""
        chosen = [event for event in self.events if event.level in levels]
        return Timeline(
            source,
            model,
            self.levels,
            len(self.times),
            np.frombuffer(self.times, np.float64),
            apply_min_gap(chosen, gap),
            {level: Curves(*map(_series, self._curves[level])) for level in levels},
            self.keyframes.pictures(),
            self._span(),
        )

    def _span(self) -> tuple[Fraction, Fraction]:
        first, before, last = map(_exact, (self._first, self._before, self._last))
        return first, last + (last - before if len(self.times) > 1 else 0)


def _exact(shown: tuple[int, Fraction]) -> Fraction:  # seconds
    pts, base = shown
    return pts * base


def _series(values: array[float]) -> Series:
    return np.frombuffer(values, np.float32)  # no copy
