"""Pictures in a terminal: each character shows two pixels, one above the other."""

from __future__ import annotations

from itertools import groupby

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

from vpr.video.frames import Frame, Picture

UPPER = "▀"  # in the colour of the upper pixel, on the colour of the lower


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
