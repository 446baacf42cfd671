"""Draws coloured discs on black, for the datasets with balls."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

COLOURS = np.array(  # red, green, cyan, magenta, yellow, blue, and red again
    [[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=np.float32
)


def draw_discs(
    position: NDArray[np.float32], colour: NDArray[np.int64], radius: float, size: int
) -> NDArray[np.float32]:
    """Frames (B, T, 3, size, size), values 0 and 1, of hard-edged discs.

    Centres (B, T, K, 2) are (y, x) in pixels, colours (B, T, K) indices into COLOURS; later discs
    cover earlier ones. Only the square around each disc is computed: most of a frame is black.
    """
    around = np.arange(-math.ceil(radius), math.ceil(radius) + 2, dtype=np.float32)
    place = np.floor(position)[..., None] + around  # (B, T, K, 2, P)
    distance = (place - position[..., None]) ** 2
    disc = distance[..., 0, :, None] + distance[..., 1, None, :] <= radius**2
    within = (place >= 0) & (place < size)
    disc &= within[..., 0, :, None] & within[..., 1, None, :]
    frames = np.zeros((*colour.shape[:2], 3, size, size), dtype=np.float32)
    # Indices into the flat array, which is faster than indexing with five arrays.
    y, x = np.moveaxis(place.astype(np.int64), 3, 0)  # (B, T, K, P) each
    start = np.arange(0, frames.size, 3 * size**2).reshape(*colour.shape[:2], 1, 1)
    pixel = ((start + y * size)[..., None] + x[..., None, :])[disc]
    pixels = disc.sum((-2, -1)).ravel()  # of each disc
    for channel in range(3):
        bright = COLOURS[colour.ravel(), channel]
        frames.reshape(-1)[channel * size**2 :][pixel] = np.repeat(bright, pixels)
    return frames
