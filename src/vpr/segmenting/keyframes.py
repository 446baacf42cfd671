"""A bounded number of key frames: first frames of events, and frames at even intervals."""

from __future__ import annotations

import heapq
from io import BytesIO

from PIL import Image

from vpr.segmenting.timeline import Event
from vpr.video.frames import Frame, Picture

MAX_EVENTS = 480  # pictures of events, by level and score
MAX_REGULAR = 120  # pictures at regular intervals
STRIDE = 4  # initial number of frames between regular pictures; doubles when there are too many
QUALITY = 80


class KeyFrames:
    """JPEGs of key frames. Both kinds are thinned out as more frames are added.

    Pictures at regular intervals are encoded at the end, because most of them are dropped.
    """

    def __init__(self) -> None:
        self._events: list[tuple[int, float, int, bytes]] = []  # a heap, the weakest event first
        self._regular: dict[int, Picture] = {}
        self._stride = STRIDE

    def add(self, frame: int, shown: Frame, event: Event | None) -> None:
        """Add the next frame and, if it starts events, the one of the highest level."""
        if shown.picture.ndim == 1:  # a vector
            return
        is_regular = frame % self._stride == 0
        priority = (event.level, event.score) if event else None
        is_key = priority is not None and (
            len(self._events) < MAX_EVENTS or priority > self._events[0][:2]
        )
        if not is_regular and not is_key:
            return
        small = shown.thumbnail()
        if priority is not None and is_key:
            self._add_event((*priority, frame, jpeg(small)))
        if is_regular:
            self._regular[frame] = small
            self._thin_out()

    def pictures(self) -> dict[int, bytes]:
        """The JPEGs by frame."""
        events = {frame: data for _, _, frame, data in self._events}
        regular = {n: jpeg(small) for n, small in self._regular.items() if n not in events}
        return dict(sorted((regular | events).items()))

    def _add_event(self, event: tuple[int, float, int, bytes]) -> None:
        if len(self._events) < MAX_EVENTS:
            heapq.heappush(self._events, event)
        else:
            heapq.heapreplace(self._events, event)

    def _thin_out(self) -> None:
        if len(self._regular) > MAX_REGULAR:
            self._stride *= 2
            self._regular = {n: each for n, each in self._regular.items() if n % self._stride == 0}


def jpeg(picture: Picture) -> bytes:
    buffer = BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
