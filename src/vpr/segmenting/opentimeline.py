"""Events as a timeline for video editors: OpenTimelineIO JSON (`.otio`), one track per level."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from vpr.segmenting.chapters import Chapter, Chapters, frame_rate, media_name, media_url, rounded
from vpr.segmenting.timeline import Event, Timeline

Schema = dict[str, Any]


def otio(timeline: Timeline) -> Schema:
    """A track has a clip for each part from event to event of a level."""
    tracks = [_track(timeline, level) for level in timeline.reported_levels]
    stack = {"OTIO_SCHEMA": "Stack.1", "name": "tracks", "children": tracks}
    metadata = {"vpr": {"model": timeline.model}}
    name = media_name(timeline.source)
    return {"OTIO_SCHEMA": "Timeline.1", "name": name, "metadata": metadata, "tracks": stack}


def _track(timeline: Timeline, level: int) -> Schema:
    rate = frame_rate(timeline)
    media = _media(timeline, rate)
    events = [None, *timeline.events(level)]
    parts = zip(Chapters(timeline, level), events, strict=False)  # no chapters without frames
    return {
        "OTIO_SCHEMA": "Track.1",
        "name": f"Level {level}",
        "kind": "Video",
        "children": [_clip(timeline, part, event, rate, media) for part, event in parts],
    }


def _clip(
    timeline: Timeline, part: Chapter, event: Event | None, rate: Fraction, media: Schema
) -> Schema:
    known = {} if event is None else {"kind": event.kind, "time": str(event.time)}
    return {
        "OTIO_SCHEMA": "Clip.2",
        "name": part.title,
        "metadata": {"vpr": known},
        "source_range": _range(part.start - timeline.start, part.end - timeline.start, rate),
        "media_references": {"DEFAULT_MEDIA": media},
        "active_media_reference_key": "DEFAULT_MEDIA",
    }


def _media(timeline: Timeline, rate: Fraction) -> Schema:
    return {
        "OTIO_SCHEMA": "ExternalReference.1",
        "target_url": media_url(timeline.source),
        "available_range": _range(Fraction(0), timeline.end - timeline.start, rate),
    }


def _range(start: Fraction, end: Fraction, rate: Fraction) -> Schema:
    """From the start of the footage, in whole frames."""
    first, last = rounded(start * rate, 1), rounded(end * rate, 1)
    return {
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": _time(first, rate),
        "duration": _time(last - first, rate),
    }


def _time(frames: int, rate: Fraction) -> Schema:
    return {"OTIO_SCHEMA": "RationalTime.1", "value": float(frames), "rate": float(rate)}
