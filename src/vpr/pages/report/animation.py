"""Animations: a strip of all frames, and beside it one frame after another."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from vpr.data.pictures import as_images
from vpr.pages.frame_strip import data_url, downscaled
from vpr.pages.templates import fill


def animation(frames: NDArray[np.float32], columns: int, title: str, words: str) -> str:
    """An animation of frames (K, *frame), the first of which is the present.

    Padded to `columns` with transparent frames, so that all animations have one length. `words` is
    markup.
    """
    images = as_images(downscaled(frames)[None])[0]
    height, width = images.shape[1:3]
    return fill(
        "report/animation.html",
        sheet=data_url(_sheet(images, columns)),
        columns=str(columns),
        ratio=f"{width} / {height}",
        tape=f"{columns * width} / {height}",
        title=escape(title),
        words=words,
        label=escape(f"{title}: {len(frames)} pictures, the first is the present"),
    )


def _sheet(images: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """(H, columns·W, 4)"""
    count, height, width = images.shape[:3]
    sheet = np.zeros((height, columns, width, 4), np.uint8)
    sheet[:, :count, :, :3] = images.transpose(1, 0, 2, 3)
    sheet[:, :count, :, 3] = 255
    return sheet.reshape(height, -1, 4)
