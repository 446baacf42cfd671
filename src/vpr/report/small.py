"""Frames no larger than a page of many has room for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIDE = 64


def small(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """(K, *frame); pictures of more than 64 pixels at half their size. Their sides are even."""
    if frames.ndim == 2 or max(frames.shape[2:]) <= SIDE:
        return frames
    count, colours, height, width = frames.shape
    halves = frames.reshape(count, colours, height // 2, 2, width // 2, 2)
    mean: NDArray[np.float32] = halves.mean((3, 5), dtype=np.float32)
    return mean
