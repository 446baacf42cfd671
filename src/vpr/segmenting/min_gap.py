"""Events that come too soon after another."""

from __future__ import annotations

from bisect import bisect_left, insort
from fractions import Fraction

from vpr.segmenting.timeline import Event


def spread_out(events: list[Event], gap: Fraction) -> list[Event]:
    """At each level, no two events closer than `gap` seconds; of two that are, the stronger stays.

    The strongest event of a level stays in any case, then the next that is far enough from it, and
    so on. What the level above keeps counts as stronger than anything else, so that the levels
    stay nested: an event of a level is one of all levels below.
    """
    if gap <= 0:
        return events
    kept: set[tuple[int, int]] = set()  # (level, frame)
    above: set[int] = set()
    for level in sorted({event.level for event in events}, reverse=True):
        mine = [event for event in events if event.level == level]
        mine.sort(key=lambda event: (event.frame not in above, -event.score, event.frame))
        above = _far_apart(mine, gap)
        kept |= {(level, frame) for frame in above}
    return [event for event in events if (event.level, event.frame) in kept]


def _far_apart(events: list[Event], gap: Fraction) -> set[int]:
    """The frames of those that are `gap` or more from all that come before them in the list."""
    times: list[Fraction] = []  # in order
    frames = set()
    for event in events:
        place = bisect_left(times, event.time)
        near = times[max(place - 1, 0) : place + 1]
        if all(abs(event.time - time) >= gap for time in near):
            insort(times, event.time)
            frames.add(event.frame)
    return frames
