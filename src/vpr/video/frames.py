"""One frame of footage, with its place in time as the file states it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # (H, W, 3), upright


class Frame(NamedTuple):
    """A picture and when it is shown. Rates may vary, so the time is the file's, never counted."""

    picture: Picture
    number: int  # from 0, in the order in which frames are shown
    pts: int  # presentation time, in units of `time_base`
    time_base: Fraction  # seconds

    @property
    def time(self) -> Fraction:  # seconds
        return self.pts * self.time_base


class Source(Protocol):
    """Footage that is read once, from its first frame to its last, in constant memory."""

    @property
    def name(self) -> str:
        """What the user called it."""
        ...

    @property
    def expected(self) -> int | None:
        """How many frames there may be, for progress bars only: headers are often wrong."""
        ...

    def __iter__(self) -> Iterator[Frame]: ...
