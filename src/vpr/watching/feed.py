"""Feeds of frames: one that waits for the model, and a live one that drops the oldest frames."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from vpr.video.frames import Frame

BUFFER_SIZE = 8  # frames: enough for a short delay of the model, few enough to stay recent


class Arrival(NamedTuple):
    """A frame, its arrival time, and the number of frames dropped before it."""

    frame: Frame
    at: float  # seconds on the clock
    dropped: int = 0


def blocking_feed(
    frames: Iterable[Frame], clock: Callable[[], float] = monotonic
) -> Iterator[Arrival]:
    """Frames of a source that can wait for the model, such as a file; none is dropped."""
    for frame in frames:
        yield Arrival(frame, clock())


class Feed:
    """Frames of a source that does not wait, such as a camera.

    A thread reads them into a small buffer; when that is full, the oldest frame is dropped, so that
    the model always gets recent frames. Without `drops`, the thread waits instead. With `paced`,
    each frame is held back until its presentation time: a file is played as if it were live.
    """

    def __init__(
        self,
        frames: Iterable[Frame],
        buffer_size: int = BUFFER_SIZE,
        paced: bool = False,
        drops: bool = True,
    ) -> None:
        self.frames, self.buffer_size, self.paced, self.drops = frames, buffer_size, paced, drops
        self._waiting: deque[Arrival] = deque()
        self._changed = threading.Condition()
        self._dropped = 0  # since the last frame that was taken
        self._ended = False
        self._failure: Exception | None = None
        self._stop = threading.Event()

    def __iter__(self) -> Iterator[Arrival]:
        # A daemon, because a blocked camera cannot be interrupted.
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while (arrival := self._take()) is not None:
                yield arrival
        finally:
            self._stop.set()
        if self._failure is not None:
            raise self._failure

    def _take(self) -> Arrival | None:
        with self._changed:
            while not self._waiting and not self._ended:
                self._changed.wait(0.2)  # with a timeout, so that Ctrl-C works everywhere
            if not self._waiting:
                return None
            arrival = self._waiting.popleft()._replace(dropped=self._dropped)
            self._dropped = 0
            self._changed.notify()  # there is room again
            return arrival

    def _read(self) -> None:
        try:
            for frame in self._paced_frames() if self.paced else self.frames:
                if self._stop.is_set():
                    break
                self._put(Arrival(frame, monotonic()))
        except Exception as failure:  # raised again in the thread that takes the frames
            self._failure = failure
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify()

    def _put(self, arrival: Arrival) -> None:
        with self._changed:
            while not (self.drops or self._stop.is_set()) and self._is_full():
                self._changed.wait(0.2)
            if self._is_full():
                self._waiting.popleft()
                self._dropped += 1
            self._waiting.append(arrival)
            self._changed.notify()

    def _is_full(self) -> bool:
        return len(self._waiting) == self.buffer_size

    def _paced_frames(self) -> Iterator[Frame]:
        """Each frame at its presentation time, relative to the first."""
        start: float | None = None
        for frame in self.frames:
            time = float(frame.time)
            start = monotonic() - time if start is None else start
            self._stop.wait(max(start + time - monotonic(), 0))
            yield frame
