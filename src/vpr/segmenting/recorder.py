"""What was seen, frame by frame, in compact arrays, until it becomes a timeline."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from vpr.boundaries import Sight, plain_boundaries
from vpr.errors import VPRError
from vpr.segmenting.keyframes import KeyFrames
from vpr.segmenting.min_gap import spread_out
from vpr.segmenting.timeline import Curves, Event, Series, Timeline
from vpr.video.frames import Frame

UNASKED = (math.nan,) * 3


class Record:
    """An hour takes a few megabytes: three floats a level and frame, one for the time."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self.times = array("d")
        self.events: list[Event] = []
        self.keyframes = KeyFrames()
        self._curves = {level: [array("f") for _ in range(3)] for level in range(2, levels + 1)}
        # Of the first frame, the last but one and the last: fractions are slow, so only if asked.
        self._first = self._before = self._last = (0, Fraction(1))  # presentation time, time base

    def add(self, frame: Frame, seen: Sequence[Sight]) -> None:
        """One frame, and what the levels (level 1 first) saw in it, as far as the signal went."""
        number = len(self.times)
        self._note_time(number, frame)
        for level, curves in self._curves.items():
            values = seen[level - 1][:3] if level <= len(seen) else UNASKED
            for curve, value in zip(curves, values, strict=True):
                curve.append(value)
        # The first frame opens every level's first event: that is no boundary.
        found = plain_boundaries(seen, number) if number else ()
        events = [Event.of(each, frame.time) for each in found]
        self.events += events
        self.keyframes.add(number, frame, events[-1] if events else None)

    def _note_time(self, number: int, frame: Frame) -> None:
        base = frame.time_base
        seconds = frame.pts * base.numerator / base.denominator  # rounded once, as a fraction is
        if number == 0:
            self._first = frame.pts, base
        elif seconds <= self.times[-1] and frame.time < _exact(self._last):
            raise VPRError(f"frame {number} is shown before the one it follows: sort the frames")
        self._before, self._last = self._last, (frame.pts, base)
        self.times.append(seconds)

    def timeline(self, source: str, model: str, levels: Sequence[int], gap: Fraction) -> Timeline:
        """The events of `levels`, no two of one level closer than `gap` seconds."""
        chosen = [event for event in self.events if event.level in levels]
        return Timeline(
            source,
            model,
            self.levels,
            len(self.times),
            np.frombuffer(self.times, np.float64),
            spread_out(chosen, gap),
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
    return np.frombuffer(values, np.float32)  # the same memory
