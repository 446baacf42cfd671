"""A timeline as the JSON that its page contains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from typing import Any

from PIL import Image

from vpr.pages.templates import script_json
from vpr.pages.timeline.packed_curves import curve_stride, packed_curves, packed_times
from vpr.segmenting.timeline import Event, Timeline
from vpr.segmenting.timeline_json import joined, quoted

MAX_PICTURE_BYTES = 7_000_000  # bytes of base64 pictures on a page


def timeline_data(timeline: Timeline) -> Iterator[str]:
    """The JSON in parts."""
    stride = curve_stride(timeline)
    pictures = kept_pictures(timeline, MAX_PICTURE_BYTES)
    times = script_json(packed_times(timeline, stride))
    yield f'{{"frames":{timeline.frames},"levels":{timeline.levels},"times":{times},"events":['
    yield from joined((script_json(_event(event)) for event in timeline.boundaries), ",")
    yield f'],"stride":{stride},"curves":{{'
    curves = timeline.curves.items()
    yield from joined(
        (f'"{n}":{script_json(packed_curves(each, stride))}' for n, each in curves), ","
    )
    yield f'}},"ratio":{_ratio(pictures)},"pictures":{{'
    yield from joined((f'"{n}":{quoted(jpeg)}' for n, jpeg in pictures.items()), ",")
    yield "}}"


def kept_pictures(timeline: Timeline, room: int) -> dict[int, bytes]:
    """The pictures that fit into `room` bytes: first frame, then by level and score."""
    rank = dict.fromkeys(timeline.pictures, (-1, 0.0))
    for event in timeline.boundaries:
        if event.frame in rank:
            rank[event.frame] = max(rank[event.frame], (event.level, event.score))
    first = min(rank, default=0)
    kept = []
    for frame in sorted(rank, key=lambda frame: (frame != first, *(-r for r in rank[frame]))):
        room -= 4 * -(-len(timeline.pictures[frame]) // 3)  # as base64
        if room < 0:
            break
        kept.append(frame)
    return {frame: timeline.pictures[frame] for frame in sorted(kept)}


def exact(time: Fraction) -> str:
    """Seconds as a decimal number if that is exact, otherwise as a fraction."""
    if 10**9 % time.denominator:
        return str(time)
    return f"{Decimal(time.numerator) / Decimal(time.denominator):f}"


def _event(event: Event) -> list[Any]:
    values = (event.kl_static, event.kl_change, event.threshold)
    return [
        event.frame,
        exact(event.time),
        event.level,
        event.kind,
        *(_number(f"{value:.4g}") for value in values),
        *(_number(f"{ratio:.3f}") for ratio in (event.fit, event.surprise)),
        None if event.probability is None else round(event.probability, 4),
    ]


def _number(written: str) -> float | None:
    """None for values that are not finite, which JSON cannot represent."""
    value = float(written)
    return value if math.isfinite(value) else None


def _ratio(pictures: dict[int, bytes]) -> float:
    """Width / height of the pictures, which are all frames of one video."""
    try:
        jpeg = BytesIO(next(iter(pictures.values()), b""))
        with Image.open(jpeg, formats=["JPEG"]) as picture:  # reads the header only
            return round(picture.width / picture.height, 4)
    except (OSError, ValueError, SyntaxError, ZeroDivisionError, Image.DecompressionBombError):
        return 1.0
