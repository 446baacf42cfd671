"""A film as one picture, and as the frames of an animation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vpr.data.pictures import BACKGROUND, GAP, as_images
from vpr.generation.film import Film, Strip

Pixels = NDArray[np.uint8]  # (H, W, 3)

MIN_WIDTH = 64  # pixels; smaller frames are enlarged to about this width
ANIMATION_SCALE = 2  # scale of the frames of an animation
GROUP_GAP = 12  # between two groups, and after the first column
LABEL_SIZE = 26  # width of the labels
FONT_SIZE = 14
TEXT_COLOUR = (40, 40, 40)


def sheet(film: Film) -> Pixels:
    """A row for each strip with its label on the left; the first column is set apart."""
    rows = [_images(strip, 1) for group in film.groups for strip in group]
    height, width = rows[0].shape[1:3]
    tops = _offsets(film, height)
    lefts = [
        LABEL_SIZE + k * (width + GAP) + GROUP_GAP * (k > 0) for k in range(max(map(len, rows)))
    ]
    canvas = _canvas(lefts[-1] + width, tops[-1] + height)
    for label, images, top in zip(_labels(film), rows, tops, strict=True):
        _write(canvas, label, LABEL_SIZE // 2, top + height // 2)
        for image, left in zip(images, lefts, strict=False):
            canvas.paste(Image.fromarray(image), (left, top))
    return np.asarray(canvas)


def animation(film: Film) -> list[Pixels]:
    """All strips side by side under their labels; one picture for each column of the sheet."""
    panels = [_images(strip, ANIMATION_SCALE) for group in film.groups for strip in group]
    height, width = panels[0].shape[1:3]
    lefts = _offsets(film, width)
    empty = _canvas(lefts[-1] + width, LABEL_SIZE + height)
    for label, left in zip(_labels(film), lefts, strict=True):
        _write(empty, label, left + width // 2, LABEL_SIZE // 2)
    shown = []
    for k in range(max(map(len, panels))):
        canvas = empty.copy()
        for images, left in zip(panels, lefts, strict=True):
            if k < len(images):
                canvas.paste(Image.fromarray(images[k]), (left, LABEL_SIZE))
        shown.append(np.asarray(canvas))
    return shown


def _images(strip: Strip, scale: int) -> NDArray[np.uint8]:
    """(K, H, W, 3)"""
    images: NDArray[np.uint8] = as_images(strip.frames[None])[0]
    times = scale * max(MIN_WIDTH // images.shape[2], 1)
    return images.repeat(times, 1).repeat(times, 2)


def _offsets(film: Film, size: int) -> list[int]:
    """The position of each strip, if each has this size."""
    places: list[int] = []
    for group in film.groups:
        start = places[-1] + size + GROUP_GAP if places else 0
        places += [start + k * (size + GAP) for k in range(len(group))]
    return places


def _labels(film: Film) -> list[str]:
    return [strip.label for group in film.groups for strip in group]


def _canvas(width: int, height: int) -> Image.Image:
    """A canvas of at least this size with even sides, as video needs."""
    return Image.new(
        "RGB", (width + width % 2, height + height % 2), (BACKGROUND, BACKGROUND, BACKGROUND)
    )


def _write(canvas: Image.Image, label: str, x: int, y: int) -> None:
    font = ImageFont.load_default(FONT_SIZE)
    ImageDraw.Draw(canvas).text((x, y), label, TEXT_COLOUR, font, anchor="mm")
