"""Read boundaries from CSV with a header, JSON of `vpr segment` and lines of `vpr watch`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from vpr.errors import VPRError
from vpr.evaluation.matching import exact
from vpr.evaluation.tolerance import Scale
from vpr.utils.files import parse_json
from vpr.utils.fractions import bounded_fraction

SUFFIXES = (".csv", ".json", ".jsonl")  # in this order, if a folder has several files of a name


class Mark(NamedTuple):
    """One boundary; None for values that are not in the file."""

    time: Fraction | None  # seconds
    frame: Fraction | None
    level: int | None
    file: str | None  # the video, if a table has several


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
        read = _from_json if path.suffix in (".json", ".jsonl") else _from_csv
        marks = Marks(path, [_mark(path, where, record) for where, record in read(path)])
    except UnicodeDecodeError:
        raise VPRError(f"{path} is not text: expected CSV or JSON") from None
    for scale in scales:
        if len(marks.places(scale, None)) < len(marks.marks):
            other = "frames, like 5f" if scale == "time" else "seconds, like 0.2s"
            raise VPRError(f"{path} has boundaries without {scale}: give the tolerance in {other}")
    return marks


Records = Iterator[tuple[str, Mapping[str, Any]]]  # location in the file, and values


def _from_csv(path: Path) -> Records:
    with path.open(
        encoding="utf-8-sig", newline=""
    ) as file:  # Excel starts files with a byte order mark
        rows = csv.DictReader(file, skipinitialspace=True)
        names = [name.strip().lower() for name in rows.fieldnames or []]
        if not names:
            raise VPRError(f"{path} is empty: it needs a header with a column 'time' or 'frame'")
        if not {"time", "frame"} & set(names):
            has = ", ".join(names)
            raise VPRError(f"{path} needs a column 'time' or 'frame' in its header, it has: {has}")
        rows.fieldnames = names
        for row in rows:
            yield f"line {rows.line_num}", row


def _from_json(path: Path) -> Records:
    text = path.read_text(encoding="utf-8")
    try:
        if path.suffix == ".jsonl":
            lines = (parse_json(line, bounded_fraction) for line in text.splitlines() if line)
            entries = [
                line for line in lines if "level" in line
            ]  # other lines are notices and the summary
        else:
            data = parse_json(text, bounded_fraction)
            entries = data["events"] if isinstance(data, dict) else data
        records = [(f"entry {n}", dict(entry)) for n, entry in enumerate(entries, start=1)]
    except (ValueError, KeyError, TypeError):
        raise VPRError(
            f"{path} has no list of boundaries: expected JSON of vpr segment or vpr watch"
        ) from None
    yield from records


def _mark(path: Path, where: str, record: Mapping[str, Any]) -> Mark:
    def number(name: str) -> Fraction | None:
        value = record.get(name)
        if value is None or value == "":
            return None
        try:
            return exact(value)
        except (VPRError, ZeroDivisionError):
            raise VPRError(f"{path}, {where}: {name} {value!r} is not a number") from None

    time = number("exact") or number("time")  # our files also have the exact fraction
    frame, level = number("frame"), number("level")
    if time is None and frame is None:
        raise VPRError(f"{path}, {where}: neither a time nor a frame")
    if level is not None and level.denominator != 1:
        raise VPRError(f"{path}, {where}: level {record['level']} is not a whole number")
    return Mark(time, frame, None if level is None else int(level), record.get("file"))
