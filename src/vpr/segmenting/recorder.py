"""Collects the evidence of every frame and a bounded number of key frames for a timeline."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO

import numpy as np
from PIL import Image

from vpr.errors import VPRError
from vpr.events import LevelEvidence, boundaries
from vpr.segmenting.timeline import Curves, Event, Series, Timeline
from vpr.video.frames import Frame, Picture

NOT_EVALUATED = (math.nan,) * 3

MAX_EVENTS = 480  # pictures of events, by level and score
MAX_REGULAR = 120  # pictures at regular intervals
STRIDE = 4  # initial number of frames between regular pictures; doubles when there are too many
QUALITY = 80


class Recorder:
    """Stores the evidence in compact arrays: three floats per level and frame, and one per time."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self.times = array("d")
        self.events: list[Event] = []
        self.keyframes = KeyFrames()
        self._curves = {level: [array("f") for _ in range(3)] for level in range(2, levels + 1)}
        # First, second-to-last and last frame. Fractions are slow: they are made only at the end.
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

    def timeline(self, source: str, model: str) -> Timeline:
        """The timeline with all events."""
        return Timeline(
            source,
            model,
            self.levels,
            len(self.times),
            np.frombuffer(self.times, np.float64),
            self.events,
            {level: Curves(*map(_series, curves)) for level, curves in self._curves.items()},
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


class KeyFrames:
    """JPEGs of the first frames of events, and of frames at regular intervals.

    Both kinds are thinned out as more frames are added. Pictures at regular intervals are encoded
    at the end, because most of them are dropped.
    """

    def __init__(self) -> None:
        self._events: list[tuple[int, float, int, bytes]] = []  # a heap, the weakest event first
        self._regular: dict[int, Picture] = {}
        self._stride = STRIDE

    def add(self, frame: int, shown: Frame, event: Event | None) -> None:
        """Add the next frame and, if it starts events, the one of the highest level."""
        if shown.picture.ndim == 1:  # a vector
            return
        is_regular = frame % self._stride == 0
        priority = (event.level, event.score) if event else None
        is_key = priority is not None and (
            len(self._events) < MAX_EVENTS or priority > self._events[0][:2]
        )
        if not is_regular and not is_key:
            return
        small = shown.thumbnail()
        if priority is not None and is_key:
            self._add_event((*priority, frame, jpeg(small)))
        if is_regular:
            self._regular[frame] = small
            self._thin_out()

    def pictures(self) -> dict[int, bytes]:
        """The JPEGs by frame."""
        events = {frame: data for _, _, frame, data in self._events}
        regular = {n: jpeg(small) for n, small in self._regular.items() if n not in events}
        return dict(sorted((regular | events).items()))

    def _add_event(self, event: tuple[int, float, int, bytes]) -> None:
        if len(self._events) < MAX_EVENTS:
            heapq.heappush(self._events, event)
        else:
            heapq.heapreplace(self._events, event)

    def _thin_out(self) -> None:
        if len(self._regular) > MAX_REGULAR:
            self._stride *= 2
            self._regular = {n: each for n, each in self._regular.items() if n % self._stride == 0}


def jpeg(picture: Picture) -> bytes:
    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
