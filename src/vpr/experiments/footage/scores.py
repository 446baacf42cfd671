"""F1 of detected times against transitions that last for some frames."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from vpr.evaluation.matching import MatchCounts

Span = tuple[Fraction, Fraction]  # seconds; equal for a cut
TOLERANCE = 0.2  # seconds


def tally(
    found: Sequence[float], true: Sequence[Span], ignored: Sequence[Span] = ()
) -> MatchCounts:
    """A transition is found if a time lies within it or at most `TOLERANCE` from it.

    Each further time in the same transition counts as wrong. Times in `ignored` transitions do not
    count. Transitions are further apart than twice the tolerance.
    """
    counts = [sum(_inside(time, span) for time in found) for span in true]
    apart = sum(any(_inside(time, span) for span in ignored) for time in found)
    matched = sum(count > 0 for count in counts)
    return MatchCounts(matched, len(found) - apart, len(true))


def inside(time: float, spans: Sequence[Span]) -> int | None:
    """The index of the first transition that a time is in, or close to."""
    return next((n for n, span in enumerate(spans) if _inside(time, span)), None)


def _inside(time: float, span: Span) -> bool:
    # A little more, for the rounding of times in binary.
    return float(span[0]) - TOLERANCE - 1e-6 <= time <= float(span[1]) + TOLERANCE + 1e-6
