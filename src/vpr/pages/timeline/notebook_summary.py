"""The summary of a timeline in a notebook: events of each level, and a few key frames.

It needs no scripts and no files, and works on light and dark backgrounds.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape

from vpr.pages.palette import KINDS
from vpr.segmenting.timeline import Event, Timeline
from vpr.segmenting.webvtt import milliseconds, timestamp

MAX_PICTURES = 8
MAX_MARKS = 400  # per level; more would overlap


def notebook_summary(timeline: Timeline) -> str:
    rows = "".join(_row(timeline, level) for level in reversed(timeline.reported_levels))
    length = timestamp(milliseconds(timeline.end - timeline.start))
    problem = f"<p>{escape(timeline.problem)}</p>" if timeline.problem else ""
    if timeline.undecodable:
        problem += f"<p>{timeline.undecodable} frames could not be decoded.</p>"
    problem += "".join(f"<p><b>Warning:</b> {escape(each)}</p>" for each in timeline.warnings)
    return (
        '<div style="font: 13px sans-serif; max-width: 900px">'
        f"<p><b>{escape(timeline.source)}</b>, {timeline.frames} frames, {length}, "
        f"model {escape(timeline.model)}</p>{problem}"
        '<table style="font: inherit; font-size: 13px; width: 100%; border-collapse: collapse">'
        f"{rows}</table>"
        f"<p>{_pictures(timeline)}</p><p>{_key()}</p></div>"
    )


def _row(timeline: Timeline, level: int) -> str:
    events = timeline.events(level)
    stated = f"level {level}: {len(events)} event{'' if len(events) == 1 else 's'}"
    shown = sorted(sorted(events, key=lambda event: -event.score)[:MAX_MARKS])
    marks = "".join(_mark(timeline, event) for event in shown)
    return (
        f'<tr><td style="width: 11em; text-align: left; padding: 2px">{stated}</td>'
        '<td style="padding: 2px"><svg width="100%" height="22" viewBox="0 0 1000 22" '
        f'preserveAspectRatio="none" role="img" aria-label="{stated}">'
        '<rect width="1000" height="22" fill="#888888" fill-opacity="0.15"/>'
        f"{marks}</svg></td></tr>"
    )


def _mark(timeline: Timeline, event: Event) -> str:
    length = timeline.end - timeline.start
    place = float((event.time - timeline.start) / length) * 1000 if length else 0.0
    title = f"{timestamp(milliseconds(event.time))}, frame {event.frame}, {escape(event.kind)}"
    return (
        f'<rect x="{place:.2f}" width="2" height="22" fill="{KINDS[event.kind].light}">'
        f"<title>{title}</title></rect>"
    )


def _pictures(timeline: Timeline) -> str:
    """A few pictures at even intervals."""
    frames = sorted(timeline.pictures)
    chosen = frames[:: max(-(-len(frames) // MAX_PICTURES), 1)]
    return "".join(_picture(frame, timeline.pictures[frame]) for frame in chosen)


def _picture(frame: int, jpeg: bytes) -> str:
    data = b64encode(jpeg).decode()
    shown = f'src="data:image/jpeg;base64,{data}" alt="frame {frame}" title="frame {frame}"'
    return f'<img {shown} style="width: 100px; margin: 0 4px 0 0; display: inline">'


def _key() -> str:
    return " ".join(
        f'<span style="border-left: 4px solid {colour.light}; padding-left: 4px">{kind}</span>'
        for kind, colour in KINDS.items()
        if kind != "clock"
    )
