"""A timeline at a glance, for notebooks: a strip a level, key frames, counts. No scripts, no files.

Notebooks may be light or dark: text takes their colour, marks are told apart on both.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape

from vpr.segmenting.timeline import Event, Timeline
from vpr.segmenting.webvtt import milliseconds, timestamp

COLOURS = {"expected": "#d55e00", "unexpected": "#009e73", "both": "#0072b2", "clock": "#888888"}
PICTURES = 8
MARKS = 400  # in a strip: more cannot be told apart


def glance(timeline: Timeline) -> str:
    rows = "".join(_row(timeline, level) for level in reversed(timeline.reported))
    length = timestamp(milliseconds(timeline.end - timeline.start))
    trouble = f"<p>{escape(timeline.trouble)}</p>" if timeline.trouble else ""
    return (
        '<div style="font: 13px sans-serif; max-width: 900px">'
        f"<p><b>{escape(timeline.source)}</b>, {timeline.frames} frames, {length}, "
        f"watched by {escape(timeline.model)}</p>{trouble}"
        '<table style="font: inherit; font-size: 13px; width: 100%; border-collapse: collapse">'
        f"{rows}</table>"
        f"<p>{_pictures(timeline)}</p><p>{_key()}</p></div>"
    )


def _row(timeline: Timeline, level: int) -> str:
    events = timeline.events(level)
    stated = f"level {level}: {len(events)} event{'' if len(events) == 1 else 's'}"
    shown = sorted(sorted(events, key=lambda event: -event.score)[:MARKS])
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
    told = f"{timestamp(milliseconds(event.time))}, frame {event.frame}, {event.kind}"
    return (
        f'<rect x="{place:.2f}" width="2" height="22" fill="{COLOURS[event.kind]}">'
        f"<title>{told}</title></rect>"
    )


def _pictures(timeline: Timeline) -> str:
    """A few, evenly chosen."""
    frames = sorted(timeline.pictures)
    chosen = frames[:: max(-(-len(frames) // PICTURES), 1)]
    return "".join(_picture(frame, timeline.pictures[frame]) for frame in chosen)


def _picture(frame: int, jpeg: bytes) -> str:
    data = b64encode(jpeg).decode()
    shown = f'src="data:image/jpeg;base64,{data}" alt="frame {frame}" title="frame {frame}"'
    return f'<img {shown} style="width: 100px; margin: 0 4px 0 0; display: inline">'


def _key() -> str:
    return " ".join(
        f'<span style="border-left: 4px solid {colour}; padding-left: 4px">{kind}</span>'
        for kind, colour in COLOURS.items()
        if kind != "clock"
    )
