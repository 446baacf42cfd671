"""A timeline as JSON and back, without loss.

Events are plain JSON, with times in seconds and as exact fractions. Curves and pictures are base64
of little-endian floats (float32, times float64) and of JPEG files: decimal numbers would take ten
times the space, and JSON has no NaN.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.config import MAX_LEVELS
from vpr.errors import VPRError
from vpr.segmenting.timeline import Curves, Event, Timeline
from vpr.utils.files import read_json, write_parts

FORMAT = 1
KIND = "vpr timeline"
CURVE_NAMES = ("kl_static", "kl_change", "threshold")
FRACTION = re.compile(r"-?\d{1,40}(/\d{1,40})?", re.ASCII)
LINE = ",\n"  # one event or picture per line
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)

PIECE = 3 * 2**14  # bytes encoded at a time; a multiple of 3, as base64 needs


def write_timeline(path: Path, timeline: Timeline) -> None:
    write_parts(path, timeline_json(timeline))


def read_timeline(path: Path) -> Timeline:
    data = read_json(path)
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise VPRError(f"{path} is not a timeline: give a JSON file that vpr segment wrote")
    if data.get("format") != FORMAT:
        raise VPRError(
            f"{path} has format {data.get('format')}, this vpr reads {FORMAT}: upgrade vpr"
        )
    try:
        timeline = from_dict(data)
        _check(timeline)
        return timeline
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise VPRError(
            f"{path} is not a complete timeline ({error}): run vpr segment again"
        ) from error


def timeline_json(timeline: Timeline) -> Iterator[str]:
    """The JSON in parts."""
    head = {
        "kind": KIND,
        "format": FORMAT,
        "source": timeline.source,
        "model": timeline.model,
        "levels": timeline.levels,
        "frames": timeline.frames,
        "trouble": timeline.problem,
        "undecodable": timeline.undecodable,
        "warnings": timeline.warnings,
        "span": [str(time) for time in timeline.span] if timeline.span else None,
    }
    yield ENCODER.encode(head)[:-1]
    yield ', "events": ['
    yield from joined((ENCODER.encode(_event(event)) for event in timeline.boundaries), LINE)
    yield '], "times": '
    yield from quoted_parts(timeline.times.astype("<f8", copy=False))
    yield ', "curves": {'
    yield from _curves(timeline)
    yield '}, "pictures": {'
    pictures = timeline.pictures.items()
    yield from joined((f'"{frame}": {quoted(jpeg)}' for frame, jpeg in pictures), LINE)
    yield "}}\n"


def _curves(timeline: Timeline) -> Iterator[str]:
    for number, (level, curves) in enumerate(timeline.curves.items()):
        yield f'{LINE if number else ""}"{level}": {{'
        for place, name in enumerate(CURVE_NAMES):
            yield f'{", " if place else ""}"{name}": '
            yield from quoted_parts(getattr(curves, name).astype("<f4", copy=False))
        yield "}"


def from_dict(data: dict[str, Any]) -> Timeline:
    """Read a timeline; raises KeyError, TypeError or ValueError for anything else."""
    span = [_fraction(time) for time in data["span"] or ()]
    return Timeline(
        _text(data["source"]),
        _text(data["model"]),
        int(data["levels"]),
        int(data["frames"]),
        _unpacked(data["times"], "<f8").astype(np.float64),
        [_read_event(event) for event in data["events"]],
        {
            int(level): Curves(*(_unpacked(each[n], "<f4").astype(np.float32) for n in CURVE_NAMES))
            for level, each in data["curves"].items()
        },
        {int(frame): b64decode(jpeg, validate=True) for frame, jpeg in data["pictures"].items()},
        (span[0], span[1]) if span else None,
        None if data["trouble"] is None else _text(data["trouble"]),
        int(data.get("undecodable", 0)),
        tuple(_text(each) for each in data.get("warnings", ())),
    )


def _check(timeline: Timeline) -> None:
    """Raise a ValueError unless all parts fit together, as exports and pages assume."""
    frames, levels = timeline.frames, range(2, timeline.levels + 1)
    if not 1 <= timeline.levels <= MAX_LEVELS or timeline.undecodable < 0:
        raise ValueError(f"{timeline.levels} levels and {timeline.undecodable} undecodable frames")
    lengths = {len(timeline.times), *(len(c) for each in timeline.curves.values() for c in each)}
    if lengths != {frames} or not np.isfinite(timeline.times).all():
        raise ValueError("times and curves must have one number per frame")
    if timeline.span is not None and timeline.span[0] > timeline.span[1]:
        raise ValueError("it ends before it starts")
    if not set(timeline.curves) <= set(levels):
        raise ValueError("curves of levels that the model does not have")
    for event in timeline.boundaries:
        numbers = math.isfinite(event.kl_static) and math.isfinite(event.kl_change)
        if not (0 <= event.frame < frames and event.level in levels and numbers):
            raise ValueError(f"an event at frame {event.frame} of level {event.level}")
    if not all(0 <= frame < frames for frame in timeline.pictures):
        raise ValueError("a picture of a frame that does not exist")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name must be text")
    return value


def _fraction(text: Any) -> Fraction:
    """An exact number of seconds; `Fraction` itself would also compute 1e999999999."""
    if not isinstance(text, str) or not FRACTION.fullmatch(text):
        raise ValueError("a time must be an integer or a fraction")
    return Fraction(text)


def _event(event: Event) -> dict[str, Any]:
    """An event as JSON. Values that are not finite are null: the threshold is infinite before the
    first D_st, and NaN for a fixed clock."""
    measures = event.measures()
    return {
        "frame": event.frame,
        "time": float(event.time),
        "exact": str(event.time),
        "level": event.level,
        "kind": event.kind,
        "kl_static": _finite(event.kl_static),
        "kl_change": _finite(event.kl_change),
        "threshold": _finite(event.threshold),
        "fit": _finite(measures["fit"]),
        "surprise": _finite(measures["surprise"]),
        "score": _finite(measures["score"]),
        "probability": event.probability,
    }


def _read_event(data: dict[str, Any]) -> Event:
    missing = math.nan if data["kind"] == "clock" else math.inf
    return Event(
        int(data["frame"]),
        _fraction(data["exact"]),
        int(data["level"]),
        data["kind"],
        float(data["kl_static"]),
        float(data["kl_change"]),
        missing if data["threshold"] is None else float(data["threshold"]),
        None if data.get("probability") is None else _probability(data["probability"]),
    )


def _probability(value: Any) -> float:
    if not 0 <= float(value) <= 1:
        raise ValueError("a probability must be 0 to 1")
    return float(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(b64decode(text, validate=True), kind)


def joined(parts: Iterable[str], between: str) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield f"{between}{part}" if number else part


def quoted(data: bytes) -> str:
    """Base64 in quotes; it contains no characters that JSON escapes."""
    return f'"{b64encode(data).decode("ascii")}"'


def quoted_parts(array: NDArray[Any]) -> Iterator[str]:
    """The bytes of an array as base64 in quotes."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    yield '"'
    for start in range(0, len(data), PIECE):
        yield b64encode(data[start : start + PIECE].data).decode("ascii")
    yield '"'
