"""Rotation and mirroring of a video, from the display matrix of its file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vpr.video.frames import Picture


class Orientation(NamedTuple):
    """A rotation or mirroring: rows and columns are swapped first, then reversed."""

    swap: bool = False
    columns: bool = False
    rows: bool = False

    def __call__(self, picture: Picture) -> Picture:
        if self.swap:
            picture = picture.swapaxes(0, 1)
        steps = (
            slice(None, None, -1 if self.rows else 1),
            slice(None, None, -1 if self.columns else 1),
        )
        return np.ascontiguousarray(picture[steps])

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width after the rotation (or before it, given those after)."""
        return (width, height) if self.swap else (height, width)


def orientation_from_matrix(matrix: bytes | None) -> Orientation:
    """The orientation nearest to a display matrix of nine 32-bit integers, row by row.

    It maps (x, y) to (a·x + c·y, b·x + d·y), with y pointing down.
    """
    if matrix is None or len(matrix) < 36:
        return Orientation()
    a, b, _, c, d = np.frombuffer(matrix, dtype="=i4", count=5).astype(float)
    if abs(b) + abs(c) > abs(a) + abs(d):
        return Orientation(swap=True, columns=c < 0, rows=b < 0)
    return Orientation(columns=a < 0, rows=d < 0)


def frame_orientation(frame: Any) -> Orientation:
    """The orientation of an av.VideoFrame."""
    try:
        found = frame.side_data.get("DISPLAYMATRIX")
    except ValueError:  # side data of a kind that PyAV does not know
        return Orientation()
    return orientation_from_matrix(None if found is None else bytes(found))
