"""The last key frames, side by side."""

from __future__ import annotations

from collections import deque
from itertools import groupby
from typing import NamedTuple

from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from vpr.segmenting.webvtt import milliseconds, timestamp
from vpr.video.frames import Frame, Picture

MAX_COLUMNS = 20
GAP = "  "

UPPER = "▀"  # in the colour of the upper pixel, on the colour of the lower


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


def can_show_pictures(console: Console) -> bool:
    """Whether the terminal has enough colours, and Unicode."""
    return console.color_system in ("truecolor", "256") and not console.options.ascii_only


def scaled_to(frame: Frame, columns: int, rows: int) -> Picture:
    """A frame scaled to at most `columns` × `rows` characters: (2 · rows, columns, 3)."""
    picture = frame.thumbnail(columns)
    if picture.shape[0] > 2 * rows:
        picture = frame.thumbnail(max(columns * 2 * rows // picture.shape[0], 1))
    return picture[: 2 * rows]


def half_blocks(picture: Picture) -> list[list[Segment]]:
    """The lines of a picture (h, w, 3); an odd last row has a black background."""
    height, width = picture.shape[:2]
    if picture.shape[2] == 1:
        picture = picture.repeat(3, axis=2)
    lines = []
    for y in range(0, height, 2):
        upper = picture[y].tolist()
        lower = picture[y + 1].tolist() if y + 1 < height else [[0, 0, 0]] * width
        runs = groupby(zip(upper, lower, strict=True))  # neighbours of one colour are one segment
        lines.append([Segment(UPPER * len(list(run)), _style(*pair)) for pair, run in runs])
    return lines


def _style(above: list[int], below: list[int]) -> Style:
    return Style(color=Color.from_rgb(*above), bgcolor=Color.from_rgb(*below))
