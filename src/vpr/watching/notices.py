"""Limits how often dropped frames and a late source are reported."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from vpr.watching.watcher import WatchedFrame

DROPS_INTERVAL = 1.0  # seconds
LATE_INTERVAL = 5.0
MAX_DELAY = 1.0  # seconds behind its timestamps, above which a source is reported as late


class Notices:
    """Reports each dropped frame once, several together."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._unreported = 0
        self._drops_reported = self._late_reported = float("-inf")

    def drops(self, seen: WatchedFrame) -> int:
        """The number of dropped frames to report now."""
        self._unreported += seen.dropped
        if not self._unreported or self.clock() - self._drops_reported < DROPS_INTERVAL:
            return 0
        self._drops_reported = self.clock()
        return self.rest()

    def rest(self) -> int:
        """The number of dropped frames that were not reported yet."""
        unreported, self._unreported = self._unreported, 0
        return unreported

    def late(self, seen: WatchedFrame) -> float | None:
        """The delay of the source in seconds, if it should be reported now."""
        if seen.late < MAX_DELAY or self.clock() - self._late_reported < LATE_INTERVAL:
            return None
        self._late_reported = self.clock()
        return seen.late
