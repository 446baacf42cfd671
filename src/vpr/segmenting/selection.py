"""Which detected events a timeline reports: by probability, number, interval or minimum gap."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from vpr.errors import VPRError
from vpr.segmenting.timeline import Event, Timeline

if TYPE_CHECKING:
    from vpr.segmenting.event_calibration import Calibration, Floats

DEFAULT_PROBABILITY = 0.5  # minimum probability that is reported by default


@dataclass(frozen=True)
class Selection:
    """How events are selected: by at most one of these options.

    The default is all events, or for a calibrated model those that are more likely than not.
    """

    probability: float | None = None  # minimum probability of an event
    events: int | None = None  # maximum number of events per level
    every: float | None = None  # mean interval between events of a level, in seconds

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.probability, self.events, self.every)) > 1:
            raise VPRError("give only one of probability, events and every")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise VPRError(f"probability must be 0 to 1, got {self.probability}")
        if self.events is not None and self.events < 0:
            raise VPRError(f"events must be 0 or more, got {self.events}")
        if self.every is not None and not self.every > 0:
            raise VPRError(f"every must be above 0 seconds, got {self.every}")

    def check(self, calibration: Calibration | None) -> None:
        """Raise an error if probabilities are requested but the model has none."""
        if self.probability is not None and calibration is None:
            raise VPRError(
                "this model has no probabilities: use events, every, or threshold for γ instead"
            )

    def max_events(self, timeline: Timeline) -> int | None:
        """The maximum number of events per level in a timeline; None if there is none."""
        if self.every is not None:
            return round(float(timeline.end - timeline.start) / self.every)
        return self.events


def select_events(
    timeline: Timeline,
    levels: list[int],
    gap: Fraction,
    selection: Selection,
    calibration: Calibration | None = None,
    changes: Floats | None = None,
) -> Timeline:
    """Reduce a timeline of all levels to the events to report; levels stay nested.

    `changes` of the input (frames, spans) are needed for probabilities.
    """
    selection.check(calibration)
    found = timeline.boundaries
    if calibration is not None:
        assert changes is not None
        found = with_probabilities(timeline, calibration, changes)
        gap = max(gap, Fraction(str(calibration.gap)))
    found = apply_min_gap([event for event in found if event.level in levels], gap)
    min_probability = selection.probability
    max_events = selection.max_events(timeline)
    if calibration is not None and min_probability is None and max_events is None:
        min_probability = DEFAULT_PROBABILITY
    curves = {level: each for level, each in timeline.curves.items() if level in levels}
    return replace(
        timeline, boundaries=_strongest(found, min_probability, max_events), curves=curves
    )


def with_probabilities(
    timeline: Timeline, calibration: Calibration, changes: Floats
) -> list[Event]:
    """All events, with probabilities at the levels that are calibrated."""
    known: dict[tuple[int, int], float] = {}
    for level in calibration.weights:
        frames = [event.frame for event in timeline.events(level)]
        found = calibration.probabilities(changes, level, frames)
        known |= {(level, frame): float(p) for frame, p in zip(frames, found, strict=True)}
    return [
        event._replace(probability=known.get((event.level, event.frame)))
        for event in timeline.boundaries
    ]


def _likely(event: Event, min_probability: float) -> bool:
    return event.probability is None or event.probability >= min_probability


def _strongest(
    events: list[Event], min_probability: float | None, max_events: int | None
) -> list[Event]:
    """The events of each level that are probable enough, or the strongest.

    Events that are kept at the level above come first, so that levels stay nested.
    """
    kept: set[tuple[int, int]] = set()
    above: set[int] = set()
    for level in sorted({event.level for event in events}, reverse=True):
        mine = [event for event in events if event.level == level]
        mine.sort(key=lambda event: (event.frame not in above, -event.strength))
        if min_probability is not None:
            mine = [e for e in mine if e.frame in above or _likely(e, min_probability)]
        above = {event.frame for event in mine[:max_events]}
        kept |= {(level, frame) for frame in above}
    return [event for event in events if (event.level, event.frame) in kept]


def apply_min_gap(events: list[Event], gap: Fraction) -> list[Event]:
    """Of two events of a level that are closer than `gap` seconds, keep only the stronger.

    Events are kept greedily, strongest first. Events that are kept at the level above come first,
    so that levels stay nested: an event of a level is an event of all levels below.
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
