"""A timeline as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import PurePath
from urllib.parse import quote

from vpr.pages.templates import fill, shell
from vpr.pages.timeline.timeline_data import timeline_data
from vpr.segmenting.timeline import Timeline

SCRIPTS = (
    *(
        "data",
        "format",
        "strength",
        "view",
        "state",
        "density",
        "rows",
        "pictures",
        "curves",
        "ruler",
    ),
    *("details", "table", "hover", "pointer", "keys", "main"),
)
CLOCK = (
    '<li><svg class="mark" aria-hidden="true"><use href="#clock"/></svg>event of a fixed clock</li>'
)
DATA = "<!-- data -->"  # placeholder


def timeline_page(timeline: Timeline, video: str | None = None) -> str:
    """The whole page; see `timeline_page_parts`."""
    return "".join(timeline_page_parts(timeline, video))


def timeline_page_parts(timeline: Timeline, video: str | None = None) -> Iterator[str]:
    """The page in parts, because the data of an hour of video is too large for one string.

    `video` is the path of the footage relative to the page; a browser that can play it shows it.
    Level 1, which updates at every frame, has no row.
    """
    name = _plain(PurePath(timeline.source).name or timeline.source)
    levels = range(timeline.levels, 1, -1)  # the slowest at the top
    body = fill(
        "timeline/web/timeline.html",
        name=escape(name),
        lead=_lead(timeline),
        warnings="".join(f'<p class="warning">{escape(_plain(w))}</p>' for w in timeline.warnings),
        rows="".join(_row(timeline, level) for level in levels),
        options="".join(f'<option value="{n}">level {n}</option>' for n in reversed(levels)),
        clock=CLOCK if any(event.kind == "clock" for event in timeline.boundaries) else "",
        video=_video(video),
        data=DATA,
    )
    before, _, after = shell(
        "timeline",
        f"vpr: events in {escape(name)}",
        body,
        styles=("timeline/web/timeline.css",),
        scripts=[f"timeline/web/{script}.js" for script in SCRIPTS],
        views=("key frame",),
    ).partition(DATA)
    yield before
    yield from timeline_data(timeline)
    yield after


def _lead(timeline: Timeline) -> str:
    counts = {level: len(timeline.events(level)) for level in timeline.reported_levels}
    # A change at a high level is an event of all levels below, so a sum would count it repeatedly.
    count = ", ".join(
        f"{found:,} event{'' if found == 1 else 's'} at level {level}"
        for level, found in counts.items()
        if found
    )
    frames = f"{timeline.frames:,} frames" if timeline.frames != 1 else "one frame"
    return fill(
        "timeline/web/lead.html",
        model=escape(_plain(timeline.model)),
        count=f"{count}," if count else "no event",
        frames=frames,
        undecodable=f" {lost:,} more could not be decoded."
        if (lost := timeline.undecodable)
        else "",
    )


def _row(timeline: Timeline, level: int) -> str:
    count = sum(event.level == level for event in timeline.boundaries)
    words = f"{count:,} event{'' if count == 1 else 's'}"
    return fill("timeline/web/row.html", level=str(level), count=words)


def _video(video: str | None) -> str:
    """A video element, hidden until the browser can play it.

    The path is quoted, so it can only refer to a local file.
    """
    if video is None:
        return ""
    path = f"/{video.lstrip('/')}" if video.startswith("/") else video
    link = quote(path, errors="surrogateescape")
    return f'<video id="video" src="{link}" controls preload="metadata" hidden></video>'


def _plain(name: str) -> str:
    """Replace bytes of a file name that are not valid text."""
    return name.encode("utf-8", "replace").decode("utf-8")
