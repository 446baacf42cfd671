"""One frame of footage, with its place in time as the file states it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (H, W, C), upright; C is 3, or 1 where grey was asked for

THUMBNAIL = 160  # pixels wide


class Frame(NamedTuple):
    """A picture and when it is shown. Rates may vary, so the time is the file's, never counted.

    The picture has the size that was asked for. What it was made from is held as long as the frame
    is: keep pictures and thumbnails, not frames.
    """

    picture: Picture
    number: int  # from 0, in the order in which frames are shown
    pts: int  # presentation time, in units of `time_base`
    time_base: Fraction  # seconds
    whole: Callable[[int], Picture] | None = None  # the frame as it came, so many pixels wide

    @property
    def time(self) -> Fraction:  # seconds
        return self.pts * self.time_base

    def thumbnail(self, width: int = THUMBNAIL) -> Picture:
        """The whole frame (h, w, 3) in its own proportions and colours, never enlarged.

        It is made only when asked for.
        """
        return self.picture if self.whole is None else self.whole(width)


class Source(Protocol):
    """Footage that is read from its first frame to its last, in constant memory."""

    @property
    def name(self) -> str:
        """What the user called it."""
        ...

    @property
    def expected(self) -> int | None:
        """How many frames there may be, for progress bars only: headers are often wrong."""
        ...

    @property
    def trouble(self) -> str | None:
        """Once read: what was broken or missing, in one line; None if all was well.

        The frames that could be read were given all the same; had there been none, reading would
        have raised a VPRError.
        """
        ...

    def __iter__(self) -> Iterator[Frame]: ...
