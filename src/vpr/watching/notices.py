"""When to say that frames are dropped, or that the source comes late: at once, but not always."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from vpr.watching.watcher import Seen

DROPS_EVERY = 1.0  # seconds
LATE_EVERY = 5.0
LATE = 1.0  # seconds behind its own clock that are worth saying


class Notices:
    """Each dropped frame is told exactly once, several together."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._untold = 0
        self._told_drops = self._told_late = float("-inf")

    def drops(self, seen: Seen) -> int:
        """How many to tell of now; 0 if none, or later."""
        self._untold += seen.dropped
        if not self._untold or self.clock() - self._told_drops < DROPS_EVERY:
            return 0
        self._told_drops = self.clock()
        return self.rest()

    def rest(self) -> int:
        """Those that were not told of."""
        untold, self._untold = self._untold, 0
        return untold

    def late(self, seen: Seen) -> float | None:
        """By how many seconds, if it is time to say so."""
        if seen.late < LATE or self.clock() - self._told_late < LATE_EVERY:
            return None
        self._told_late = self.clock()
        return seen.late
