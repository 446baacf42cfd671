"""ffmpeg's own format for chapters: `ffmpeg -i a.mp4 -i a.level2.ffmeta -map_chapters 1 b.mp4`."""

from __future__ import annotations

import re
from fractions import Fraction
from math import lcm

from vpr.segmenting.chapters import Chapter

LARGEST = 2**31 - 1  # of a numerator or denominator in ffmpeg
NANOSECONDS = 1_000_000_000


def ffmetadata(chapters: list[Chapter], title: str) -> str:
    """All times are whole multiples of one time base, so nothing is rounded."""
    ticks = _ticks(chapters)
    lines = [";FFMETADATA1", f"title={_escaped(title)}"]
    for chapter in chapters:
        start, end = round(chapter.start * ticks), round(chapter.end * ticks)
        lines += [
            "[CHAPTER]",
            f"TIMEBASE=1/{ticks}",
            f"START={start}",
            f"END={end}",
            f"title={_escaped(chapter.title)}",
        ]
    return "\n".join(lines) + "\n"


def _ticks(chapters: list[Chapter]) -> int:
    """In a second: exact if ffmpeg can write that down, and nanoseconds if not."""
    times = [time for chapter in chapters for time in (chapter.start, chapter.end)]
    exact = lcm(*(Fraction(time).denominator for time in times))
    return exact if exact <= LARGEST else NANOSECONDS


def _escaped(text: str) -> str:
    """What has a meaning of its own, the end of a line among it, follows a backslash."""
    return re.sub(r"([=;#\\\n])", r"\\\1", text.replace("\r", " "))
