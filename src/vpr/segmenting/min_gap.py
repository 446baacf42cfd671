"""Removes events that are too close to a stronger one."""

from __future__ import annotations

from bisect import bisect_left, insort
from fractions import Fraction

from vpr.segmenting.timeline import Event


def apply_min_gap(events: list[Event], gap: Fraction) -> list[Event]:
    """Of two events of a level that are closer than `gap` seconds, keep only the stronger.

    Events are kept greedily, strongest first. Events that the level above keeps come first, so that
    levels stay nested: an event of a level is an event of all levels below.
    """
    if gap <= 0:
        return events
    kept: set[tuple[int, int]] = set()  # (level, frame)
    above: set[int] = set()
    for level in sorted({event.level for event in events}, reverse=True):
        mine = [event for event in events if event.level == level]
        mine.sort(key=lambda event: (event.frame not in above, -event.strength, event.frame))
        above = _far_apart(mine, gap)
        kept |= {(level, frame) for frame in above}
    return [event for event in events if (event.level, event.frame) in kept]


def _far_apart(events: list[Event], gap: Fraction) -> set[int]:
    """Frames of events that are at least `gap` from all events kept before them in the list."""
    times: list[Fraction] = []  # in order
    frames = set()
    for event in events:
        place = bisect_left(times, event.time)
        near = times[max(place - 1, 0) : place + 1]
        if all(abs(event.time - time) >= gap for time in near):
            insort(times, event.time)
            frames.add(event.frame)
    return frames
