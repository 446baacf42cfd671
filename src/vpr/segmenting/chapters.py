"""Chapters: what lies between two events of a level."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from vpr.files import write_text
from vpr.segmenting.timeline import Timeline


class Chapter(NamedTuple):
    """From one event of a level to its next."""

    start: Fraction  # seconds
    end: Fraction
    title: str


def chapters(timeline: Timeline, level: int) -> list[Chapter]:
    """They follow each other without a gap; the first begins with the footage.

    Footage without frames has none.
    """
    if not timeline.frames:
        return []
    events = timeline.events(level)
    starts = [timeline.start, *(event.time for event in events)]
    kinds = ["start", *(event.kind for event in events)]
    spans = pairwise([*starts, max(timeline.end, starts[-1])])
    return [
        Chapter(start, end, f"Level {level}, event {number} ({kind})")
        for number, ((start, end), kind) in enumerate(zip(spans, kinds, strict=True), start=1)
    ]


def write_chapters(
    path: Path, timeline: Timeline, form: Callable[[list[Chapter], str], str]
) -> list[Path]:
    """A file a level, as `form` writes chapters under a title; the paths."""
    paths = []
    for level in timeline.reported:
        paths.append(path.with_name(f"{path.stem}.level{level}{path.suffix}"))
        write_text(paths[-1], form(chapters(timeline, level), timeline.source))
    return paths
