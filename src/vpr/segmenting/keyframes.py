"""A bounded number of key frames: first frames of events, and frames at even intervals."""

from __future__ import annotations

import heapq
from io import BytesIO

from PIL import Image

from vpr.segmenting.timeline import Event
from vpr.video.frames import Frame, Picture

EVENTS = 480  # pictures of events, by level and score
EVENLY = 120  # pictures at even intervals
STRIDE = 4  # frames between pictures at first; doubles when there are too many
QUALITY = 80


class KeyFrames:
    """JPEGs of key frames. Both kinds are thinned out as more frames come.

    Pictures at even intervals are encoded at the end, because most of them are dropped before.
    """

    def __init__(self) -> None:
        self._events: list[tuple[int, float, int, bytes]] = []  # a heap, the weakest event first
        self._evenly: dict[int, Picture] = {}
        self._stride = STRIDE

    def add(self, frame: int, shown: Frame, event: Event | None) -> None:
        """Add the next frame and, if it starts events, the one of the highest level."""
        at_interval = frame % self._stride == 0
        worth = (event.level, event.score) if event else None
        is_key = worth is not None and (len(self._events) < EVENTS or worth > self._events[0][:2])
        if not at_interval and not is_key:
            return
        small = shown.thumbnail()
        if worth is not None and is_key:
            self._keep((*worth, frame, jpeg(small)))
        if at_interval:
            self._evenly[frame] = small
            self._thin_out()

    def pictures(self) -> dict[int, bytes]:
        """The JPEGs by frame."""
        events = {frame: data for _, _, frame, data in self._events}
        moments = {n: jpeg(small) for n, small in self._evenly.items() if n not in events}
        return dict(sorted((moments | events).items()))

    def _keep(self, event: tuple[int, float, int, bytes]) -> None:
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
