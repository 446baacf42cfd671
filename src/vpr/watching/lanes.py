"""The line of one level in the terminal: its latest events, and D_st relative to the threshold."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction

from rich.text import Text

from vpr.events import Kind, LevelEvidence
from vpr.pages.palette import D_ST, KINDS, THRESHOLD

MARKS: dict[Kind, tuple[str, str]] = {  # in Unicode and in ASCII
    "expected": ("●", "o"),
    "unexpected": ("▲", "^"),
    "both": ("◆", "#"),
    "clock": ("■", "="),
}
BAR_WIDTH = 13  # characters; the threshold is in the middle
LABEL_WIDTH = len("L9 ")
GAUGE_WIDTH = len(" 9999 of 9999 ") + BAR_WIDTH


class Lane:
    """The line of one level, in which each column is a fixed span of time."""

    def __init__(self, level: int, columns: int, span: float, plain: bool) -> None:
        self.level, self.columns, self.plain = level, columns, plain
        self._column = Fraction(str(span)) / columns  # seconds
        self._events: deque[tuple[int, Kind]] = deque()  # by column, counted from time 0
        self._now = 0
        self._last: LevelEvidence | None = None
        self._evaluated = False

    def advance(self, time: Fraction, evidence: list[LevelEvidence], kind: Kind | None) -> None:
        """Go to the next frame; `kind` is the kind of its event, if it has one."""
        self._now = math.floor(time / self._column)
        self._evaluated = len(evidence) >= self.level
        if self._evaluated:
            self._last = evidence[self.level - 1]
        if kind is not None:
            self._events.append((self._now, kind))
        while self._events and self._events[0][0] <= self._now - self.columns:
            self._events.popleft()

    def text(self) -> Text:
        return Text.assemble(f"L{self.level} ", self._marks(), " ", self._gauge())

    def _marks(self) -> Text:
        marks = dict(self._events)  # the last of several in a column
        line = Text(no_wrap=True)
        for column in range(self._now - self.columns + 1, self._now + 1):
            if column in marks:
                line.append(mark(marks[column], self.plain))
            else:
                line.append("." if self.plain else "·", "dim")
        return line

    def _gauge(self) -> Text:
        """Full at twice the threshold, and in its colour above it; dim if it was not evaluated."""
        if self._last is None:
            return Text()
        value, threshold = float(self._last.kl_static), float(self._last.threshold)
        bar = _bar(value, threshold, self.plain)
        bar.stylize(f"bold {THRESHOLD.dark}" if value > threshold else D_ST.dark)
        text = Text.assemble(f"{_short(value):>4} of {_short(threshold):<4} ", bar)
        return text if self._evaluated else Text(text.plain, "dim")


def mark(kind: Kind, plain: bool) -> Text:
    """The mark of an event in its colour, which suits a dark terminal."""
    return Text(MARKS[kind][plain], KINDS[kind].dark)


def _bar(value: float, threshold: float, plain: bool) -> Text:
    share = value / (2 * threshold) if 0 < threshold < math.inf else 0.0
    full, empty, middle = ("=", "-", "|") if plain else ("━", "─", "┃")
    filled = round(BAR_WIDTH * min(share, 1.0))
    characters = [full] * filled + [empty] * (BAR_WIDTH - filled)
    characters[BAR_WIDTH // 2] = middle
    return Text("".join(characters))


def _short(value: float) -> str:
    """At most four characters."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else "inf"
    for digits in (2, 1, 0):
        if len(text := f"{value:.{digits}f}") <= 4:
            return text
    return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
