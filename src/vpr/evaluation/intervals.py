"""Boundaries of labelled intervals."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple


class Interval(NamedTuple):
    """An interval of seconds or frames; a boundary if start and end are the same."""

    start: Fraction
    end: Fraction


def boundaries_of(intervals: Iterable[Interval], close: Fraction) -> list[Fraction]:
    """Where intervals start and end.

    Intervals that follow each other without gaps cover the footage: its start and end are not
    boundaries. Otherwise every start and end is one, except 0. An interval that starts within
    `close` of the end of the one before follows it without a gap, and its start is the boundary.
    """
    ordered = sorted(set(intervals))
    points = {each.start for each in ordered if each.start == each.end}
    spans = [each for each in ordered if each.start < each.end]
    follows = [abs(b.start - a.end) <= close for a, b in pairwise(spans)]
    if all(follows) and (len(spans) > 1 or (spans and spans[0].start == 0)):
        return sorted(points | {span.start for span in spans[1:]})
    ends = {
        span.end for span, next_is in zip(spans, [*follows, False], strict=False) if not next_is
    }
    return sorted((points | {span.start for span in spans} | ends) - {Fraction(0)})
