"""The last key frames, side by side."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from vpr.segmenting.webvtt import milliseconds, timestamp
from vpr.video.frames import Frame
from vpr.watching.half_blocks import half_blocks, scaled_to

COLUMNS = 20
GAP = "  "


class Shot(NamedTuple):
    lines: list[list[Segment]]
    width: int
    caption: str


class Gallery:
    """The last key frames that fit, newest on the right."""

    def __init__(self, width: int, rows: int) -> None:
        count = (width + len(GAP)) // (COLUMNS + len(GAP))
        self.rows = rows
        self._shots: deque[Shot] = deque(maxlen=max(count, 1))

    def add(self, frame: Frame, level: int) -> None:
        """Add the first frame of an event of this level."""
        picture = scaled_to(frame, COLUMNS, self.rows)
        caption = f"L{level} {timestamp(milliseconds(frame.time))}"
        width = max(picture.shape[1], len(caption))
        self._shots.append(Shot(half_blocks(picture), width, caption))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max((len(shot.lines) for shot in self._shots), default=0)
        for y in range(height):
            for shot in self._shots:
                line = shot.lines[y] if y < len(shot.lines) else []
                yield from line
                yield Segment(" " * (shot.width - Segment.get_line_length(line)) + GAP)
            yield Segment.line()
        for shot in self._shots:
            yield Segment(f"{shot.caption:<{shot.width}}{GAP}")
        yield Segment.line()
