"""A live view of events in the terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from vpr.segmenting.webvtt import milliseconds, timestamp
from vpr.watching.gallery import Gallery, can_show_pictures
from vpr.watching.json_lines import MAX_DELAY
from vpr.watching.lanes import GAUGE_WIDTH, LABEL_WIDTH, MARKS, Lane, mark
from vpr.watching.watcher import WatchedFrame

REFRESH_INTERVAL = 1 / 8  # seconds between two updates, to leave time for the model
SPAN = 30.0  # seconds that a lane shows
MIN_PICTURE_ROWS = 3  # smallest height of a picture, in rows


class TerminalView:
    """A lane per level, the highest at the top, and the last key frames."""

    def __init__(
        self,
        console: Console,
        title: str,
        levels: int,
        span: float = SPAN,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.console, self.title, self.clock = console, title, clock
        self.plain = console.options.ascii_only
        columns = max(console.width - LABEL_WIDTH - GAUGE_WIDTH - 1, 8)
        self.lanes = [Lane(n, columns, span, self.plain) for n in range(levels, 1, -1)]
        rows = min(console.height - levels - 5, 10)  # other lines: two at the top, legend, captions
        shown = can_show_pictures(console) and rows >= MIN_PICTURE_ROWS
        self.gallery = Gallery(console.width - 1, rows) if shown else None
        self.dropped = 0
        self._moments: deque[float] = deque(maxlen=50)  # when the last frames were shown
        self._last_drawn = float("-inf")
        self._last: WatchedFrame | None = None
        self._live = Live(console=console, auto_refresh=False)

    def show(self, seen: WatchedFrame) -> None:
        self._last = seen
        self.dropped += seen.dropped
        self._moments.append(self.clock())
        kinds = {event.level: event.kind for event in seen.events}
        for lane in self.lanes:
            lane.advance(seen.frame.time, seen.evidence, kinds.get(lane.level))
        if self.gallery is not None and seen.events:
            self.gallery.add(seen.frame, seen.events[-1].level)
        if self.clock() - self._last_drawn >= REFRESH_INTERVAL:
            self.draw()

    def draw(self) -> None:
        self._live.start()
        self._live.update(self.picture(), refresh=True)
        self._last_drawn = self.clock()

    def end(self, summary: dict[str, Any]) -> None:
        """Keep the last view and print the summary below it."""
        if self._last is not None:
            self.draw()
        self.close()
        self.console.print(summary_text(summary), highlight=False, markup=False)

    def close(self) -> None:
        """Restore the terminal."""
        self._live.stop()

    def picture(self) -> RenderableType:
        parts: list[RenderableType] = [self._status(), self._warning()]
        parts += [*(lane.text() for lane in self.lanes), self._legend()]
        return Group(*parts, *([self.gallery] if self.gallery is not None else []))

    def _status(self) -> Text:
        assert self._last is not None
        frame = self._last.frame
        time = timestamp(milliseconds(frame.time))
        text = Text(f"{time}  frame {frame.number}  {self._rate():.0f}/s  {self.title}")
        text.truncate(self.console.width - 1)
        return text

    def _warning(self) -> Text:
        """Dropped frames and delay, in a separate line that a long title cannot hide."""
        assert self._last is not None
        words = [f"{self.dropped} frames dropped: the model is too slow"] if self.dropped else []
        if self._last.late >= MAX_DELAY:
            words.append(f"the source is {self._last.late:.0f} s late")
        return Text("; ".join(words), "bold red")

    def _rate(self) -> float:
        took = self._moments[-1] - self._moments[0]
        return (len(self._moments) - 1) / took if took else 0.0

    def _legend(self) -> Text:
        text = Text(" " * LABEL_WIDTH, no_wrap=True)
        for kind in MARKS:
            if kind != "clock":
                text.append_text(mark(kind, self.plain)).append(f" {kind}  ", "dim")
        return text.append("right: D_st relative to the threshold", "dim")


def summary_text(summary: dict[str, Any]) -> str:
    delay, events = summary["delay_ms"], summary["events"]
    counts = ", ".join(f"{count} of level {level}" for level, count in events.items())
    dropped = f"{summary['dropped']} dropped" if summary["dropped"] else "none dropped"
    lines = [
        f"{summary['ended']}: {summary['frames']} frames, {dropped}; events: {counts}",
        f"Delay of events: {delay['median']:.1f} ms (median), {delay['max']:.1f} ms (max)",
    ]
    if summary["dropped"]:
        lines.append("Use --no-realtime to drop no frames, if the source can wait")
    if summary["late_s"] >= MAX_DELAY:
        lines.append(f"The source was up to {summary['late_s']:.1f} s behind its own times")
    return "\n".join(lines)
