"""A bounded number of small pictures, however long the footage: what is worth seeing of it."""

from __future__ import annotations

import heapq
from io import BytesIO

from PIL import Image

from vpr.video.frames import Frame, Picture

EVENTS = 480  # pictures of the highest and clearest events
EVENLY = 120  # and of moments spread over the footage
QUALITY = 80


class KeyFrames:
    """JPEGs of the first frames of events and of evenly spread moments; both are thinned out as
    more come. Only what is kept is ever encoded."""

    def __init__(self) -> None:
        self._events: list[tuple[int, float, int, bytes]] = []  # a heap: the least worth is first
        self._evenly: dict[int, bytes] = {}
        self._stride = 1

    def moment(self, frame: int, shown: Frame) -> None:
        """A frame like any other, in its turn."""
        if frame % self._stride:
            return
        self._evenly[frame] = jpeg(shown.thumbnail())
        if len(self._evenly) > EVENLY:
            self._stride *= 2
            self._evenly = {n: each for n, each in self._evenly.items() if n % self._stride == 0}

    def event(self, frame: int, level: int, score: float, shown: Frame) -> None:
        """The first frame of an event; `level` is the highest that has it."""
        worth = level, score
        if len(self._events) < EVENTS:
            heapq.heappush(self._events, (*worth, frame, jpeg(shown.thumbnail())))
        elif worth > self._events[0][:2]:
            heapq.heapreplace(self._events, (*worth, frame, jpeg(shown.thumbnail())))

    def pictures(self) -> dict[int, bytes]:
        """By frame."""
        events = {frame: data for _, _, frame, data in self._events}
        return dict(sorted((self._evenly | events).items()))


def jpeg(picture: Picture) -> bytes:
    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
