"""A film as one sheet, and as the moments of a moving picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vpr.data.pictures import GAP, PAPER, as_images
from vpr.generation.film import Film, Strip

Pixels = NDArray[np.uint8]  # (H, W, 3)

SIDE = 64  # smaller frames are drawn larger, until they are about so wide
MOVING = 2  # how much larger the frames of a moving picture are
BREAK = 12  # between two groups, and between the present and what follows
LABEL = 26  # room for the name of a row
FONT = 14
INK = (40, 40, 40)


def sheet(film: Film) -> Pixels:
    """A row for each strip, its name on the left, the present apart from what follows."""
    rows = [_images(strip, 1) for group in film.groups for strip in group]
    height, width = rows[0].shape[1:3]
    tops = _places(film, height)
    lefts = [LABEL + k * (width + GAP) + BREAK * (k > 0) for k in range(max(map(len, rows)))]
    canvas = _canvas(lefts[-1] + width, tops[-1] + height)
    for label, images, top in zip(_labels(film), rows, tops, strict=True):
        _write(canvas, label, LABEL // 2, top + height // 2)
        for image, left in zip(images, lefts, strict=False):
            canvas.paste(Image.fromarray(image), (left, top))
    return np.asarray(canvas)


def moments(film: Film) -> list[Pixels]:
    """All strips side by side, each under its name; a picture for each column of the sheet."""
    panels = [_images(strip, MOVING) for group in film.groups for strip in group]
    height, width = panels[0].shape[1:3]
    lefts = _places(film, width)
    empty = _canvas(lefts[-1] + width, LABEL + height)
    for label, left in zip(_labels(film), lefts, strict=True):
        _write(empty, label, left + width // 2, LABEL // 2)
    shown = []
    for k in range(max(map(len, panels))):
        canvas = empty.copy()
        for images, left in zip(panels, lefts, strict=True):
            if k < len(images):
                canvas.paste(Image.fromarray(images[k]), (left, LABEL))
        shown.append(np.asarray(canvas))
    return shown


def _images(strip: Strip, larger: int) -> NDArray[np.uint8]:
    """(K, H, W, 3)"""
    images: NDArray[np.uint8] = as_images(strip.frames[None])[0]
    times = larger * max(SIDE // images.shape[2], 1)
    return images.repeat(times, 1).repeat(times, 2)


def _places(film: Film, size: int) -> list[int]:
    """Where each strip begins, if each takes so much."""
    places: list[int] = []
    for group in film.groups:
        start = places[-1] + size + BREAK if places else 0
        places += [start + k * (size + GAP) for k in range(len(group))]
    return places


def _labels(film: Film) -> list[str]:
    return [strip.label for group in film.groups for strip in group]


def _canvas(width: int, height: int) -> Image.Image:
    """At least so large; both sides are even, as video wants them."""
    return Image.new("RGB", (width + width % 2, height + height % 2), (PAPER, PAPER, PAPER))


def _write(canvas: Image.Image, label: str, x: int, y: int) -> None:
    font = ImageFont.load_default(FONT)
    ImageDraw.Draw(canvas).text((x, y), label, INK, font, anchor="mm")
