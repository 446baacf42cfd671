"""Frames of footage at a lower rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from vpr.video.frames import Frame, Source


class AtRate:
    """At most `rate` frames per second of a source, with their own exact times.

    Of each interval of 1/rate seconds, the first frame is kept. Footage with fewer frames per
    second keeps all of them.
    """

    def __init__(self, source: Source, rate: Fraction) -> None:
        self.source, self.rate = source, rate
        self.name = source.name
        self.read = 0  # frames of the source

    @property
    def expected(self) -> int | None:
        """The frames of the source: those that are left out are read too."""
        return self.source.expected

    @property
    def problem(self) -> str | None:
        return self.source.problem

    @property
    def undecodable(self) -> int:
        return self.source.undecodable

    def __iter__(self) -> Iterator[Frame]:
        start: Fraction | None = None
        interval = -1
        self.read = 0
        for frame in self.source:
            self.read += 1
            start = frame.time if start is None else start
            now = int((frame.time - start) * self.rate)
            if now > interval:
                interval = now
                yield frame
