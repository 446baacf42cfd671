"""Read boundaries from files: of `vpr segment` and `vpr watch`, and labels in several formats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from vpr.errors import VPRError
from vpr.evaluation.label_records import records
from vpr.evaluation.matching import exact
from vpr.evaluation.tolerance import Scale

# In this order, if a folder has several files of a name.
SUFFIXES = (".csv", ".json", ".jsonl", ".eaf", ".txt")
# Between intervals that follow each other; see `boundaries_of`.
MAX_GAP = {"time": Fraction(1, 20), "frame": Fraction(1)}

Owner = tuple[Scale, int | None, str | None, str | None]  # scale, level, file, annotator


class Mark(NamedTuple):
    """One boundary; None for values that are not in the file."""

    time: Fraction | None  # seconds
    frame: Fraction | None
    level: int | None
    file: str | None  # the video, if a table has several
    annotator: str | None = None


class Marks(NamedTuple):
    """The boundaries of one video, and their file."""

    path: Path
    marks: list[Mark]

    def levels(self) -> set[int]:
        return {mark.level for mark in self.marks if mark.level is not None}

    def places(self, scale: Scale, level: int | None) -> list[Fraction]:
        """Times or frames; boundaries without a level count for every level."""
        chosen = [m for m in self.marks if level is None or m.level in (None, level)]
        places = [mark.time if scale == "time" else mark.frame for mark in chosen]
        return [place for place in places if place is not None]


def read_marks(path: Path, scales: Iterable[Scale] = ()) -> Marks:
    """All boundaries of a file; each must have a value for all `scales`."""
    if not path.is_file():
        raise VPRError(f"no such file: {path}")
    try:
        marks = Marks(path, list(_marks(path)))
    except UnicodeDecodeError:
        raise VPRError(f"{path} is not text: expected CSV, JSON, text or .eaf") from None
    for scale in scales:
        if len(marks.places(scale, None)) < len(marks.marks):
            other = "frames, like 5f" if scale == "time" else "seconds, like 0.2s"
            raise VPRError(f"{path} has boundaries without {scale}: give the tolerance in {other}")
    return marks


def _marks(path: Path) -> Iterator[Mark]:
    intervals: dict[Owner, list[Interval]] = defaultdict(list)
    for where, record in records(path):
        values = _Values(f"{path}, {where}", record)
        owner = values.level(), values.text("file"), values.text("annotator")
        time = values.number("exact") or values.number("time")  # our files have the exact fraction
        frame = values.number("frame")
        if time is not None or frame is not None:
            yield Mark(time, frame, *owner)
            continue
        scale, interval = values.interval()
        intervals[(scale, *owner)].append(interval)
    for (scale, *rest), each in intervals.items():
        for place in boundaries_of(each, MAX_GAP[scale]):
            pair = (place, None) if scale == "time" else (None, place)
            yield Mark(*pair, *rest)


class _Values:
    """The values of one record; `where` is its location, for error messages."""

    def __init__(self, where: str, record: Mapping[str, Any]) -> None:
        self.where, self.record = where, record

    def number(self, name: str) -> Fraction | None:
        value = self.record.get(name)
        if value is None or value == "":
            return None
        try:
            return _seconds(value) if isinstance(value, str) and ":" in value else exact(value)
        except (VPRError, ZeroDivisionError):
            raise VPRError(f"{self.where}: {name} {value!r} is not a number") from None

    def interval(self) -> tuple[Scale, Interval]:
        scales: dict[Scale, str] = {"time": "", "frame": "_frame"}
        for scale, ending in scales.items():
            start, end = self.number(f"start{ending}"), self.number(f"end{ending}")
            if start is not None and end is not None:
                if end < start:
                    raise VPRError(f"{self.where}: the interval ends before it starts")
                return scale, Interval(start, end)
        raise VPRError(f"{self.where}: neither a time nor a frame, nor start and end")

    def level(self) -> int | None:
        level = self.number("level")
        if level is not None and level.denominator != 1:
            raise VPRError(f"{self.where}: level {self.record['level']} is not a whole number")
        return None if level is None else int(level)

    def text(self, name: str) -> str | None:
        value = self.record.get(name)
        return None if value is None or value == "" else str(value)


def _seconds(text: str) -> Fraction:
    """The seconds of 1:02.5 or 1:00:02.5."""
    total = Fraction(0)
    for part in text.split(":"):
        total = 60 * total + exact(part.strip())  # type: ignore[arg-type]
    return total


class Interval(NamedTuple):
    """An interval of seconds or frames; a boundary if start and end are the same."""

    start: Fraction
    end: Fraction


def boundaries_of(intervals: Iterable[Interval], close: Fraction) -> list[Fraction]:
    """Where intervals start and end.

    Intervals that follow each other without gaps cover the footage: its start and end are not
    boundaries. Otherwise every start and end is one, except 0. An interval that starts within
    `close` of the end of the one before follows it without a gap, and its start is the boundary.
    """
    ordered = sorted(set(intervals))
    points = {each.start for each in ordered if each.start == each.end}
    spans = [each for each in ordered if each.start < each.end]
    follows = [abs(b.start - a.end) <= close for a, b in pairwise(spans)]
    if all(follows) and (len(spans) > 1 or (spans and spans[0].start == 0)):
        return sorted(points | {span.start for span in spans[1:]})
    ends = {
        span.end for span, next_is in zip(spans, [*follows, False], strict=False) if not next_is
    }
    return sorted((points | {span.start for span in spans} | ends) - {Fraction(0)})
