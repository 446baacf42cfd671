"""Chapters, the parts of a video between two events of a level, and what other exports share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from vpr.segmenting.timeline import Timeline
from vpr.utils.files import write_parts

NTSC = Fraction(1000, 1001)  # 30 frames per second are 30000/1001 in NTSC
RATE_TOLERANCE = Fraction(2, 10_000)  # containers with times in milliseconds are not exact
MAX_JITTER = 0.0025  # seconds


class Chapter(NamedTuple):
    """The part from one event of a level to the next."""

    start: Fraction  # seconds
    end: Fraction
    title: str


@dataclass(frozen=True)
class Chapters:
    """The chapters of a level, without gaps; the first starts with the footage."""

    timeline: Timeline
    level: int

    def __iter__(self) -> Iterator[Chapter]:
        if not self.timeline.frames:
            return
        events = self.timeline.events(self.level)
        starts = [self.timeline.start, *(event.time for event in events)]
        names = ["start", *(f"event {n} ({each.kind})" for n, each in enumerate(events, start=1))]
        spans = pairwise([*starts, max(self.timeline.end, starts[-1])])
        for (start, end), name in zip(spans, names, strict=True):
            yield Chapter(start, end, f"Level {self.level}, {name}")


def rounded(time: Fraction, units: int) -> int:
    """round(time * units), without the cost of another `Fraction`."""
    whole, over = divmod(time.numerator * units, time.denominator)
    return whole + (2 * over > time.denominator or (2 * over == time.denominator and whole % 2))


def write_chapters(
    path: Path, timeline: Timeline, form: Callable[[Chapters, str], Iterable[str]]
) -> list[Path]:
    """Write one file per level in the format `form`; returns the paths."""
    paths = []
    for level in timeline.reported_levels:
        paths.append(path.with_name(f"{path.stem}.level{level}{path.suffix}"))
        write_parts(paths[-1], form(Chapters(timeline, level), timeline.source))
    return paths


def frame_rate(timeline: Timeline) -> Fraction:
    """Frames per second of the footage; a variable rate is rounded, and 25 if it is unknown."""
    length = timeline.end - timeline.start
    if timeline.frames < 2 or length <= 0:
        return Fraction(25)
    mean = timeline.frames / length
    whole = Fraction(max(round(mean), 1))
    for rate in (whole, whole * NTSC):
        if abs(mean / rate - 1) < RATE_TOLERANCE:
            return rate
    constant = float(np.ptp(np.diff(timeline.times))) < MAX_JITTER
    return mean.limit_denominator(1001) if constant else whole


def media_url(source: str) -> str:
    """A `file:` URL for a file; other sources unchanged except for unsafe characters."""
    if os.path.exists(source):
        return Path(source).absolute().as_uri()
    return quote(source, safe=":/?&=%#@+~,;", errors="replace")


def media_name(source: str) -> str:
    """The file name, without bytes that are not valid text and without line breaks."""
    name = Path(source).name or source
    return " ".join(name.encode("utf-8", "replace").decode("utf-8").split())
