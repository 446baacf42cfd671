"""A model applied to frames as they arrive, and statistics of its delay and dropped frames."""

from __future__ import annotations

from collections import Counter, deque
from statistics import median
from typing import Any, NamedTuple

from vpr.events import LevelEvidence
from vpr.model import VPR
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.segment import check_levels
from vpr.segmenting.timeline import Event
from vpr.stream import Stream
from vpr.video.frames import Frame
from vpr.watching.feed import Arrival

DELAY_WINDOW = 10_000  # latest delays, for their median


class WatchedFrame(NamedTuple):
    """One frame with its events."""

    frame: Frame
    events: list[Event]  # lowest level first
    evidence: list[LevelEvidence]  # of level 1, 2, …, as far as they were evaluated
    dropped: int  # frames dropped since the one before
    late: float  # seconds by which the source is behind its timestamps


class Watcher:
    """Detects events frame by frame in constant memory. Only a `live` source can be late."""

    def __init__(self, model: VPR, inputs: ModelInput | None = None, live: bool = False) -> None:
        check_levels(model)
        self.stream, self.levels = Stream(model), model.config.levels
        self.input = inputs or ModelInput(model)
        self.live = live
        self._min_offset: float | None = None  # of arrival and presentation time, so far

    def process(self, arrival: Arrival) -> WatchedFrame:
        frame = arrival.frame
        found = self.stream.push(self.input([self.input.fitted(frame.picture)])[0])
        # The stream counts the frames it processed; events have the frame number of the source.
        events = [Event.of(each._replace(frame=frame.number), frame.time) for each in found]
        return WatchedFrame(
            frame, events, self.stream.evidence, arrival.dropped, self._late(arrival)
        )

    def _late(self, arrival: Arrival) -> float:
        if not self.live:
            return 0.0
        offset = arrival.at - float(arrival.frame.time)
        self._min_offset = offset if self._min_offset is None else min(self._min_offset, offset)
        return offset - self._min_offset


class WatchStatistics:
    """Counts for the summary at the end."""

    def __init__(self, levels: int) -> None:
        self.frames = self.dropped = 0
        self.events: Counter[int] = Counter(dict.fromkeys(range(2, levels + 1), 0))
        self.max_late = self.max_delay = 0.0
        self._delays: deque[float] = deque(maxlen=DELAY_WINDOW)

    def add(self, seen: WatchedFrame, delay: float) -> None:
        """`delay`: seconds from the arrival of a frame until its events were shown."""
        self.frames += 1
        self.dropped += seen.dropped
        self.events.update(event.level for event in seen.events)
        self.max_late = max(self.max_late, seen.late)
        self.max_delay = max(self.max_delay, delay)
        self._delays.append(delay)

    def summary(self) -> dict[str, Any]:
        """The summary as JSON types. The median delay is over the last `DELAY_WINDOW` frames."""
        middle = median(self._delays) if self._delays else 0.0
        return {
            "frames": self.frames,
            "dropped": self.dropped,
            "events": {str(level): count for level, count in sorted(self.events.items())},
            "delay_ms": {
                "median": round(1000 * middle, 3),
                "max": round(1000 * self.max_delay, 3),
            },
            "late_s": round(self.max_late, 3),
        }
