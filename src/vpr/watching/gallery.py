"""The last key frames, side by side."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from vpr.segmenting.webvtt import milliseconds, timestamp
from vpr.video.frames import Frame
from vpr.watching.half_blocks import half_blocks, scaled_to

MAX_COLUMNS = 20
GAP = "  "


class Thumbnail(NamedTuple):
    lines: list[list[Segment]]
    width: int
    caption: str


class Gallery:
    """The last key frames that fit, newest on the right."""

    def __init__(self, width: int, rows: int) -> None:
        count = (width + len(GAP)) // (MAX_COLUMNS + len(GAP))
        self.rows = rows
        self._thumbnails: deque[Thumbnail] = deque(maxlen=max(count, 1))

    def add(self, frame: Frame, level: int) -> None:
        """Add the first frame of an event of this level."""
        picture = scaled_to(frame, MAX_COLUMNS, self.rows)
        caption = f"L{level} {timestamp(milliseconds(frame.time))}"
        width = max(picture.shape[1], len(caption))
        self._thumbnails.append(Thumbnail(half_blocks(picture), width, caption))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max((len(thumbnail.lines) for thumbnail in self._thumbnails), default=0)
        for y in range(height):
            for thumbnail in self._thumbnails:
                line = thumbnail.lines[y] if y < len(thumbnail.lines) else []
                yield from line
                yield Segment(" " * (thumbnail.width - Segment.get_line_length(line)) + GAP)
            yield Segment.line()
        for thumbnail in self._thumbnails:
            yield Segment(f"{thumbnail.caption:<{thumbnail.width}}{GAP}")
        yield Segment.line()
