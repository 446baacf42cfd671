"""Chapters: what lies between two events of a level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from vpr.segmenting.timeline import Timeline
from vpr.utils.files import write_parts


class Chapter(NamedTuple):
    """From one event of a level to its next."""

    start: Fraction  # seconds
    end: Fraction
    title: str


@dataclass(frozen=True)
class Chapters:
    """They follow each other without a gap; the first begins with the footage.

    Footage without frames has none. Each is made when it is its turn: an hour may have thousands.
    """

    timeline: Timeline
    level: int

    def __iter__(self) -> Iterator[Chapter]:
        if not self.timeline.frames:
            return
        events = self.timeline.events(self.level)
        starts = [self.timeline.start, *(event.time for event in events)]
        kinds = ["start", *(event.kind for event in events)]
        spans = pairwise([*starts, max(self.timeline.end, starts[-1])])
        for number, ((start, end), kind) in enumerate(zip(spans, kinds, strict=True), start=1):
            yield Chapter(start, end, f"Level {self.level}, event {number} ({kind})")


def rounded(time: Fraction, units: int) -> int:
    """round(time * units), a half to the even number, without the detour by another fraction."""
    whole, over = divmod(time.numerator * units, time.denominator)
    return whole + (2 * over > time.denominator or (2 * over == time.denominator and whole % 2))


def write_chapters(
    path: Path, timeline: Timeline, form: Callable[[Chapters, str], Iterable[str]]
) -> list[Path]:
    """A file a level, as `form` writes chapters under a title; the paths."""
    paths = []
    for level in timeline.reported:
        paths.append(path.with_name(f"{path.stem}.level{level}{path.suffix}"))
        write_parts(paths[-1], form(Chapters(timeline, level), timeline.source))
    return paths
