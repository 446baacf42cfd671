"""A timeline as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import PurePath
from urllib.parse import quote

from vpr.demo.templates import fill, shell
from vpr.segmenting.page_data import page_data
from vpr.segmenting.timeline import Timeline

SCRIPTS = (
    "given",
    "words",
    "view",
    "state",
    "rows",
    "pictures",
    "curves",
    "ruler",
    "details",
    "table",
    "hover",
    "pointer",
    "keys",
    "main",
)
CLOCK = '<li><svg class="mark" aria-hidden="true"><use href="#clock"/></svg>by the clock</li>'


DATA = "<!-- data -->"  # where it comes to stand


def page(timeline: Timeline, video: str | None = None) -> str:
    """All of it; see `page_parts`."""
    return "".join(page_parts(timeline, video))


def page_parts(timeline: Timeline, video: str | None = None) -> Iterator[str]:
    """Bit by bit: of an hour the data are large, and as a text, copied into template after
    template, they would take several times their room.

    `video` is the path of the footage, seen from the page: a browser that can play it offers to.

    Level 1, which updates at every frame, has no row.
    """
    name = _plain(PurePath(timeline.source).name or timeline.source)
    levels = range(timeline.levels, 1, -1)  # the slowest on top
    body = fill(
        "segmenting/web/page.html",
        name=escape(name),
        lead=_lead(timeline),
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
        styles=("demo/style.css", "segmenting/web/page.css"),
        scripts=("demo/tip.js", *(f"segmenting/web/{script}.js" for script in SCRIPTS)),
        views=("key frame",),
    ).partition(DATA)
    yield before
    yield from page_data(timeline)
    yield after


def _lead(timeline: Timeline) -> str:
    found = len(timeline.boundaries)
    count = f"{found:,} events" if found != 1 else "one event"
    frames = f"{timeline.frames:,} frames" if timeline.frames != 1 else "one frame"
    return fill(
        "segmenting/web/lead.html",
        model=escape(_plain(timeline.model)),
        count=count if found else "no event",
        frames=frames,
    )


def _row(timeline: Timeline, level: int) -> str:
    count = sum(event.level == level for event in timeline.boundaries)
    words = f"{count:,} event{'' if count == 1 else 's'}"
    return fill("segmenting/web/row.html", level=str(level), count=words)


def _video(video: str | None) -> str:
    """It shows itself once the browser has found that it can play it. Quoted, a path is a file's:
    never another machine's."""
    if video is None:
        return ""
    path = f"/{video.lstrip('/')}" if video.startswith("/") else video
    link = quote(path, errors="surrogateescape")
    return f'<video id="film" src="{link}" controls preload="metadata" hidden></video>'


def _plain(name: str) -> str:
    """File names may hold bytes that are no letters; a page must not."""
    return name.encode("utf-8", "replace").decode("utf-8")
