"""A bounded number of small pictures, however long the footage: what is worth seeing of it."""

from __future__ import annotations

import heapq
from io import BytesIO

from PIL import Image

from vpr.segmenting.timeline import Event
from vpr.video.frames import Frame, Picture

EVENTS = 480  # pictures of the highest and clearest events
EVENLY = 120  # and of moments spread over the footage
STRIDE = 4  # frames between moments at first: neighbours look alike, and most are soon let go
QUALITY = 80


class KeyFrames:
    """JPEGs of the first frames of events and of evenly spread moments; both are thinned out as
    more come. Only what is kept is ever encoded: moments, most of which are soon let go in short
    footage, at the very end."""

    def __init__(self) -> None:
        self._events: list[tuple[int, float, int, bytes]] = []  # a heap: the least worth is first
        self._evenly: dict[int, Picture] = {}
        self._stride = STRIDE

    def add(self, frame: int, shown: Frame, event: Event | None) -> None:
        """A frame in its turn, and the event that it opens, that of the highest level."""
        in_turn = frame % self._stride == 0
        worth = (event.level, event.score) if event else None
        opens = worth is not None and (len(self._events) < EVENTS or worth > self._events[0][:2])
        if not in_turn and not opens:
            return
        small = shown.thumbnail()
        if worth is not None and opens:
            self._open((*worth, frame, jpeg(small)))
        if in_turn:
            self._evenly[frame] = small
            self._thin_out()

    def pictures(self) -> dict[int, bytes]:
        """By frame."""
        events = {frame: data for _, _, frame, data in self._events}
        moments = {n: jpeg(small) for n, small in self._evenly.items() if n not in events}
        return dict(sorted((moments | events).items()))

    def _open(self, event: tuple[int, float, int, bytes]) -> None:
        if len(self._events) < EVENTS:
            heapq.heappush(self._events, event)
        else:
            heapq.heapreplace(self._events, event)

    def _thin_out(self) -> None:
        if len(self._evenly) > EVENLY:
            self._stride *= 2
            self._evenly = {n: each for n, each in self._evenly.items() if n % self._stride == 0}


def jpeg(picture: Picture) -> bytes:
    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
