"""Cuts for video editors: an edit decision list in CMX 3600 (`.edl`), one file per level.

Timecodes start at 0 and count frames without dropping numbers, also at NTSC rates.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from vpr.segmenting.chapters import NTSC, Chapters, frame_rate, media_name, rounded


def edl(chapters: Chapters, title: str) -> Iterator[str]:
    """The list in parts: a cut for each part from event to event."""
    rate, base = _rate(frame_rate(chapters.timeline))
    name, start = media_name(title), chapters.timeline.start
    yield f"TITLE: {name}\nFCM: NON-DROP FRAME\n"
    number = 0
    for chapter in chapters:
        first, last = (rounded((time - start) * rate, 1) for time in (chapter.start, chapter.end))
        if first == last:  # at a variable rate, shorter than a frame of the list
            continue
        number += 1
        span = f"{timecode(first, base)} {timecode(last, base)}"
        yield f"\n{number:03d}  AX       V     C        {span} {span}\n"
        yield f"* FROM CLIP NAME: {name}\n* COMMENT: {chapter.title}\n"


def timecode(frame: int, base: int) -> str:
    """Hours, minutes, seconds and frames."""
    seconds, frames = divmod(frame, base)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}:{frames:02d}"


def _rate(rate: Fraction) -> tuple[Fraction, int]:
    """Frames of the list per second, and frames per second of its timecode.

    They differ at NTSC rates only; any other rate is rounded to a whole number.
    """
    base = max(round(rate), 1)
    return (rate if rate == base * NTSC else Fraction(base)), base
