"""Filmstrips: all frames of a sequence side by side, as one PNG within the page."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from math import gcd

import numpy as np
from numpy.typing import NDArray

from vpr.data.pictures import as_png
from vpr.pages.sequence_view import CELL, FRAME

MAX_SIDE = 64  # pixels, beyond which `downscaled` halves a frame


def strip(frames: NDArray[np.float32], alt: str) -> str:
    """Frames (T, *frame) as an <img> with one column per frame."""
    width, height = CELL * len(frames), _height(frames.shape[1:])
    return (
        f'<img class="strip" src="{data_url(_joined(frames))}" alt="{escape(alt)}" '
        f'width="{width}" height="{height}">'
    )


def data_url(pixels: NDArray[np.uint8]) -> str:
    """A PNG within the page."""
    return "data:image/png;base64," + b64encode(as_png(pixels)).decode()


def downscaled(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Frames (K, *frame) at half their size if a side has more than 64 pixels.

    Sides must be even then.
    """
    if frames.ndim == 2 or max(frames.shape[2:]) <= MAX_SIDE:
        return frames
    count, colours, height, width = frames.shape
    halves = frames.reshape(count, colours, height // 2, 2, width // 2, 2)
    mean: NDArray[np.float32] = halves.mean((3, 5), dtype=np.float32)
    return mean


def _joined(frames: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(H, T·W', 4), with transparent margins between frames."""
    if frames.ndim == 2:  # vectors become columns of grey
        frames = frames[:, None, :, None]
    length, colours, height, width = frames.shape
    # A margin is 1/32 of a frame on either side; small frames are enlarged until it is an integer.
    grow = FRAME // gcd(width, FRAME)
    margin = width * grow // FRAME
    pixels = np.round(frames.clip(0, 1) * 255).astype(np.uint8)
    pixels = pixels.transpose(2, 0, 3, 1).repeat(grow, axis=2)
    canvas = np.zeros((height, length, width * grow + 2 * margin, 4), np.uint8)
    inner = canvas[:, :, margin:-margin]
    inner[..., :3] = pixels if colours == 3 else pixels[..., :1]
    inner[..., 3] = 255
    return canvas.reshape(height, -1, 4)


def _height(frame: tuple[int, ...]) -> int:
    """The displayed height of a strip; for vectors at most twice the width of a frame."""
    if len(frame) == 1:
        return FRAME * min(frame[0], 2)
    return round(FRAME * frame[1] / frame[2])
