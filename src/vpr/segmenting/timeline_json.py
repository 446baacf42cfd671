"""A timeline as JSON and back, without loss.

Events are plain JSON, with times in seconds and as exact fractions. Curves and pictures are base64
of little-endian floats (float32, times float64) and of JPEG files: decimal numbers would take ten
times the space, and JSON has no NaN.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.segmenting.json_parts import joined, quoted, quoted_parts
from vpr.segmenting.timeline import Curves, Event, Timeline
from vpr.utils.files import read_json, write_parts

FORMAT = 1
KIND = "vpr timeline"
CURVE_NAMES = ("kl_static", "kl_change", "threshold")
LINE = ",\n"  # one event or picture per line
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


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
        return from_dict(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
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
    span = [Fraction(time) for time in data["span"] or ()]
    return Timeline(
        data["source"],
        data["model"],
        int(data["levels"]),
        int(data["frames"]),
        _unpacked(data["times"], "<f8").astype(np.float64),
        [_read_event(event) for event in data["events"]],
        {
            int(level): Curves(*(_unpacked(each[n], "<f4").astype(np.float32) for n in CURVE_NAMES))
            for level, each in data["curves"].items()
        },
        {int(frame): b64decode(jpeg) for frame, jpeg in data["pictures"].items()},
        (span[0], span[1]) if span else None,
        data["trouble"],
    )


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
    }


def _read_event(data: dict[str, Any]) -> Event:
    missing = math.nan if data["kind"] == "clock" else math.inf
    return Event(
        int(data["frame"]),
        Fraction(data["exact"]),
        int(data["level"]),
        data["kind"],
        float(data["kl_static"]),
        float(data["kl_change"]),
        missing if data["threshold"] is None else float(data["threshold"]),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(b64decode(text, validate=True), kind)
