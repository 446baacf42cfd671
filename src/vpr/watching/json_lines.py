"""Events as lines of JSON, one per event, as they happen."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from time import monotonic
from typing import Any, TextIO

from vpr.segmenting.event_table import event_row
from vpr.segmenting.timeline import Event
from vpr.watching.watcher import WatchedFrame

DROPS_INTERVAL = 1.0  # seconds
LATE_INTERVAL = 5.0
MAX_DELAY = 1.0  # seconds behind its timestamps, above which a source is reported as late


class JSONLines:
    """Writes each line at once, without buffering."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.notices = file, Notices()

    def show(self, seen: WatchedFrame) -> None:
        place = {"frame": seen.frame.number, "time": float(seen.frame.time)}
        if dropped := self.notices.drops(seen):
            self._write({"dropped": dropped, **place})
        if (late := self.notices.late(seen)) is not None:
            self._write({"late_s": round(late, 3), **place})
        for event in seen.events:
            self._write(event_line(event))

    def end(self, summary: dict[str, Any]) -> None:
        if rest := self.notices.take_unreported():
            self._write({"dropped": rest})
        self._write({"summary": summary})

    def close(self) -> None:
        """Do nothing: the file belongs to the caller."""

    def _write(self, line: dict[str, Any]) -> None:
        print(json.dumps(line, ensure_ascii=False, allow_nan=False), file=self.file, flush=True)


def event_line(event: Event) -> dict[str, Any]:
    """The columns of the table of `vpr segment`; values that are not finite become null."""
    values = event_row(event)
    return {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()
    }


class Notices:
    """Limits how often dropped frames and a late source are reported.

    Each dropped frame is reported once, several together.
    """

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
        return self.take_unreported()

    def take_unreported(self) -> int:
        """The number of dropped frames that were not reported yet."""
        unreported, self._unreported = self._unreported, 0
        return unreported

    def late(self, seen: WatchedFrame) -> float | None:
        """The delay of the source in seconds, if it should be reported now."""
        if seen.late < MAX_DELAY or self.clock() - self._late_reported < LATE_INTERVAL:
            return None
        self._late_reported = self.clock()
        return seen.late
