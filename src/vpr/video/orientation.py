"""How a picture lies in its file, and how it is to be shown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vpr.video.frames import Picture


class Turn(NamedTuple):
    """A quarter turn or a mirroring: rows and columns swapped first, then either reversed."""

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
        """Height and width after the turn, or before: it is the same."""
        return (width, height) if self.swap else (height, width)


def turn_of(matrix: bytes | None) -> Turn:
    """The turn nearest to a display matrix: nine 32-bit numbers, by rows.

    They move a point (x, y) to (a·x + c·y, b·x + d·y), y pointing down.
    """
    if matrix is None or len(matrix) < 36:
        return Turn()
    a, b, _, c, d = np.frombuffer(matrix, dtype="=i4", count=5).astype(float)
    if abs(b) + abs(c) > abs(a) + abs(d):
        return Turn(swap=True, columns=c < 0, rows=b < 0)
    return Turn(columns=a < 0, rows=d < 0)


def turn_of_frame(frame: Any) -> Turn:
    """Of an av.VideoFrame."""
    found = frame.side_data.get("DISPLAYMATRIX")
    return turn_of(None if found is None else bytes(found))
