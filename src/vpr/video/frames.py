"""Frames of footage with their presentation times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (H, W, C), upright; C is 3, or 1 for grey

THUMBNAIL = 160  # pixels wide


class Frame(NamedTuple):
    """A picture with its time as stated in the file, because frame rates may vary.

    A frame keeps its full-size original in memory: store pictures and thumbnails, not frames.
    """

    picture: Picture
    number: int  # from 0, in presentation order
    pts: int  # presentation time, in units of `time_base`
    time_base: Fraction  # seconds
    whole: Callable[[int], Picture] | None = None  # width → the original scaled to it

    @property
    def time(self) -> Fraction:  # seconds
        return self.pts * self.time_base

    def thumbnail(self, width: int = THUMBNAIL) -> Picture:
        """The original frame (h, w, 3) in its own proportions, at most `width` pixels wide."""
        return self.picture if self.whole is None else self.whole(width)


class Source(Protocol):
    """Footage that is read once from start to end, in constant memory."""

    @property
    def name(self) -> str:
        """The path or address that the user gave."""
        ...

    @property
    def expected(self) -> int | None:
        """The number of frames in the header, which may be wrong; for progress bars."""
        ...

    @property
    def problem(self) -> str | None:
        """After reading: a description of damage in one line, or None.

        If no frame can be read, reading raises a VPRError instead.
        """
        ...

    @property
    def undecodable(self) -> int:
        """After reading: the number of frames that could not be decoded."""
        ...

    def __iter__(self) -> Iterator[Frame]: ...
