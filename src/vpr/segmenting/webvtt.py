"""Chapters in WebVTT, which browsers and players show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from vpr.segmenting.chapters import Chapter, rounded


def webvtt(chapters: Iterable[Chapter], title: str) -> Iterator[str]:
    """The chapter track in parts. A cue lasts at least a millisecond."""
    # "-->" would end the header, and so would an empty line.
    heading = " ".join(title.replace("-->", "→").split())
    yield f"WEBVTT - {heading}\n"
    for chapter in chapters:
        start = milliseconds(chapter.start)
        end = max(milliseconds(chapter.end), start + 1)
        yield f"\n{timestamp(start)} --> {timestamp(end)}\n{_plain(chapter.title)}\n"


def milliseconds(seconds: Fraction) -> int:
    """The nearest number of milliseconds, at least 0."""
    return max(rounded(seconds, 1000), 0)


def timestamp(milliseconds: int) -> str:
    minutes, ms = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{ms // 1000:02d}.{ms % 1000:03d}"


def _plain(text: str) -> str:
    """Escape tags and entities; a line break would end the cue."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
