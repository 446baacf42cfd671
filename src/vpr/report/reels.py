"""Moving pictures: a sheet of frames that is shown whole, and beside it one frame after another."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from vpr.data.pictures import as_images
from vpr.demo.strips import data_url
from vpr.demo.templates import fill
from vpr.report.small import small


def reel(frames: NDArray[np.float32], columns: int, title: str, words: str) -> str:
    """Frames (K, *frame) of which the first is the present; clear where there are fewer than
    `columns`, so that reels beside each other keep step. `words` is markup already."""
    images = as_images(small(frames)[None])[0]
    height, width = images.shape[1:3]
    return fill(
        "report/reel.html",
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
