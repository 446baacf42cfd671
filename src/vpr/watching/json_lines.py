"""Events as lines of JSON, one per event, as they happen."""

from __future__ import annotations

import json
import math
from typing import Any, TextIO

from vpr.segmenting.event_table import event_row
from vpr.segmenting.timeline import Event
from vpr.watching.notices import Notices
from vpr.watching.watcher import WatchedFrame


class JSONLines:
    """Writes each line at once, without buffering."""

    def __init__(self, file: TextIO, notices: Notices | None = None) -> None:
        self.file, self.notices = file, notices or Notices()

    def show(self, seen: WatchedFrame) -> None:
        place = {"frame": seen.frame.number, "time": float(seen.frame.time)}
        if dropped := self.notices.drops(seen):
            self._write({"dropped": dropped, **place})
        if (late := self.notices.late(seen)) is not None:
            self._write({"late_s": round(late, 3), **place})
        for event in seen.events:
            self._write(event_line(event))

    def end(self, summary: dict[str, Any]) -> None:
        if rest := self.notices.rest():
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
