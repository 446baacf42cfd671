"""Read label files as records: CSV, text, ELAN, Label Studio, `vpr segment` and `vpr watch`.

A record has a `time` (seconds) or `frame`, or the `start` and `end` of an interval in seconds, or
`start_frame` and `end_frame`; and may have `level`, `file` and `annotator`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from vpr.errors import VPRError
from vpr.utils.files import parse_json
from vpr.utils.fractions import bounded_fraction

Records = Iterator[tuple[str, Mapping[str, Any]]]  # location in the file, and values

REQUIRED_COLUMNS = ({"time"}, {"frame"}, {"start", "end"}, {"start_frame", "end_frame"})
HEADER = "a column 'time' or 'frame', or 'start' and 'end'"


def records(path: Path) -> Records:
    """The records of a file; the suffix determines the format."""
    readers = {".json": _from_json, ".jsonl": _from_lines, ".txt": _from_text, ".eaf": _from_eaf}
    return readers.get(path.suffix.lower(), _from_csv)(path)


def _from_csv(path: Path) -> Records:
    with path.open(
        encoding="utf-8-sig", newline=""
    ) as file:  # Excel starts files with a byte order mark
        rows = csv.DictReader(file, skipinitialspace=True)
        names = [name.strip().lower() for name in rows.fieldnames or []]
        if not names:
            raise VPRError(f"{path} is empty: it needs a header with {HEADER}")
        if not any(columns <= set(names) for columns in REQUIRED_COLUMNS):
            has = ", ".join(names)
            raise VPRError(f"{path} needs {HEADER} in its header, it has: {has}")
        rows.fieldnames = names
        for row in rows:
            yield f"line {rows.line_num}", row


def _from_text(path: Path) -> Records:
    """A time per line, or start and end, then any label; as Audacity exports them."""
    text = path.read_text(encoding="utf-8-sig")
    for number, line in enumerate(text.splitlines(), start=1):
        fields = re.split(r"\s*[\s,;]\s*", line.strip())
        if not fields[0] or fields[0][0] in "#\\":  # Audacity: a range of frequencies
            continue
        if len(fields) > 1 and re.match(r"[\d.]", fields[1]):
            yield f"line {number}", {"start": fields[0], "end": fields[1]}
        else:
            yield f"line {number}", {"time": fields[0]}


def _from_eaf(path: Path) -> Records:
    """The annotations that have their own times, of all tiers; a tier is a level or annotator."""
    try:
        root = ET.parse(path).getroot()
    except ET.ParseError:
        raise VPRError(f"{path} is not XML: expected a file of ELAN") from None
    header = root.find("HEADER")
    units = "" if header is None else header.get("TIME_UNITS", "milliseconds")
    if units != "milliseconds":
        raise VPRError(f"{path} is not an ELAN file with times in milliseconds")
    times = {slot.get("TIME_SLOT_ID"): slot.get("TIME_VALUE") for slot in root.iter("TIME_SLOT")}
    for tier in root.iter("TIER"):
        name = tier.get("TIER_ID", "")
        for each in tier.iter("ALIGNABLE_ANNOTATION"):
            span = [times.get(each.get(f"TIME_SLOT_REF{n}")) for n in (1, 2)]
            if not all(time is not None and time.isdecimal() for time in span):
                raise VPRError(f"{path}: tier {name!r} has annotations without times: set them")
            start, end = (Fraction(int(time or 0), 1000) for time in span)
            yield f"tier {name!r}", {"start": start, "end": end, **_named(name)}


def _from_lines(path: Path) -> Records:
    """JSON lines of `vpr watch`; lines without a level are notices and the summary."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        entries = [parse_json(line, bounded_fraction) for line in lines if line]
        found = [dict(entry) for entry in entries if "level" in entry]
    except (ValueError, TypeError):
        raise VPRError(NO_BOUNDARIES.format(path=path)) from None
    yield from ((f"entry {n}", entry) for n, entry in enumerate(found, start=1))


def _from_json(path: Path) -> Records:
    try:
        data = parse_json(path.read_text(encoding="utf-8"), bounded_fraction)
        entries = data["events"] if isinstance(data, dict) else data
        tasks = [dict(entry) for entry in entries]
        studio = any({"annotations", "predictions"} & set(task) for task in tasks)
        found = list(_regions(tasks) if studio else tasks)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise VPRError(NO_BOUNDARIES.format(path=path)) from None
    yield from ((f"entry {n}", entry) for n, entry in enumerate(found, start=1))


NO_BOUNDARIES = (
    "{path} has no list of boundaries: expected JSON of vpr segment, vpr watch or Label Studio"
)


def _regions(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Regions of `TimelineLabels` in an export of Label Studio, which counts frames from 1."""
    for task in tasks:
        video = unquote(PurePosixPath(str(task["data"].get("video", ""))).name)
        file = {"file": video} if len(tasks) > 1 else {}
        for given in task.get("annotations") or task.get("predictions") or []:
            user = given.get("completed_by")
            user = user.get("email", user.get("id")) if isinstance(user, dict) else user
            by = {} if user is None else {"annotator": f"annotator {user}"}
            for region in given["result"]:
                if region.get("type") == "timelinelabels":
                    label = _named(str(region["value"]["timelinelabels"][0]))
                    level = {"level": label["level"]} if "level" in label else {}
                    for span in region["value"]["ranges"]:
                        frames = {"start_frame": span["start"] - 1, "end_frame": span["end"]}
                        yield frames | level | by | file


def _named(name: str) -> dict[str, Any]:
    """A tier or label called `Level 2` is a level; any other tier is an annotator."""
    level = re.fullmatch(r"level (\d+)", name.strip(), re.IGNORECASE)
    return {"level": int(level[1])} if level else {"annotator": name}
