"""What is seen, as lines of JSON: one an event, as it happens."""

from __future__ import annotations

import json
import math
from typing import Any, TextIO

from vpr.segmenting.event_table import row
from vpr.segmenting.timeline import Event
from vpr.watching.notices import Notices
from vpr.watching.watcher import Seen


class Lines:
    """Each line is flushed, so that whoever reads it knows at once."""

    def __init__(self, file: TextIO, notices: Notices | None = None) -> None:
        self.file, self.notices = file, notices or Notices()

    def show(self, seen: Seen) -> None:
        place = {"frame": seen.frame.number, "time": float(seen.frame.time)}
        if dropped := self.notices.drops(seen):
            self._write({"dropped": dropped, **place})
        if (late := self.notices.late(seen)) is not None:
            self._write({"late_s": round(late, 3), **place})
        for event in seen.events:
            self._write(as_line(event))

    def end(self, summary: dict[str, Any]) -> None:
        if rest := self.notices.rest():
            self._write({"dropped": rest})
        self._write({"summary": summary})

    def close(self) -> None:
        """There is nothing to put back; the file is its owner's."""

    def _write(self, line: dict[str, Any]) -> None:
        print(json.dumps(line, ensure_ascii=False, allow_nan=False), file=self.file, flush=True)


def as_line(event: Event) -> dict[str, Any]:
    """As in the table of `vpr segment`; JSON has no NaN and no infinity: null."""
    values = row(event)
    return {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()
    }
