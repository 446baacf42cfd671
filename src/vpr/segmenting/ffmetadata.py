"""Chapters for ffmpeg: `ffmpeg -i a.mp4 -i a.level2.ffmeta -map_chapters 1 b.mp4`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm

from vpr.segmenting.chapters import Chapter, rounded

MAX_INT32 = 2**31 - 1  # of a numerator or denominator in ffmpeg
NANOSECONDS = 1_000_000_000


def ffmetadata(chapters: Iterable[Chapter], title: str) -> Iterator[str]:
    """The file in parts. One time base for all chapters makes their times exact."""
    ticks = _ticks(chapters)
    yield f";FFMETADATA1\ntitle={_escaped(title)}\n"
    for chapter in chapters:
        start, end = rounded(chapter.start, ticks), rounded(chapter.end, ticks)
        yield f"[CHAPTER]\nTIMEBASE=1/{ticks}\nSTART={start}\nEND={end}\n"
        yield f"title={_escaped(chapter.title)}\n"


def _ticks(chapters: Iterable[Chapter]) -> int:
    """Ticks per second: exact if ffmpeg can represent them, else nanoseconds."""
    times = [time for chapter in chapters for time in (chapter.start, chapter.end)]
    exact = lcm(*(Fraction(time).denominator for time in times))
    return exact if exact <= MAX_INT32 else NANOSECONDS


def _escaped(text: str) -> str:
    """Escape special characters and line ends with a backslash."""
    return re.sub(r"([=;#\\\n])", r"\\\1", text.replace("\r", " "))
