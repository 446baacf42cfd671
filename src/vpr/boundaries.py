"""Events for people: one record for each boundary that a level detected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from vpr.events import Evidence

Kind = Literal["expected", "unexpected", "both", "clock"]


class Boundary(NamedTuple):
    """A level updated at a frame."""

    frame: int
    level: int  # 2 is the lowest that can hold back
    kind: Kind  # CE, CU, both, or a rule that asks neither
    kl_static: float  # D_st: how far the belief moved
    kl_change: float  # D_ch: how wrong the prediction of the next event was
    threshold: float  # what CU compared D_st with


class Sight(NamedTuple):
    """`Evidence` of one level at one frame of one sequence, in plain numbers."""

    kl_static: float
    kl_change: float
    threshold: float
    expected: bool
    unexpected: bool
    boundary: bool

    @classmethod
    def each(cls, evidence: Evidence) -> list[Sight]:
        """One a row."""
        return [cls(*row) for row in zip(*(field.tolist() for field in evidence), strict=True)]


def boundaries(evidence: Sequence[Evidence], sequence: int, frame: int) -> Iterator[Boundary]:
    """What the levels (level 1 first) detected at one frame of one sequence of the batch."""
    for level, seen in enumerate(evidence[1:], start=2):
        if not bool(seen.boundary[sequence]):
            return  # nested: nothing above can have updated
        (plain,) = Sight.each(Evidence(*(field[sequence, None] for field in seen)))
        yield _boundary(plain, level, frame)


def plain_boundaries(seen: Sequence[Sight], frame: int) -> Iterator[Boundary]:
    """The same of what is plain already."""
    for level, each in enumerate(seen[1:], start=2):
        if not each.boundary:
            return
        yield _boundary(each, level, frame)


def _boundary(seen: Sight, level: int, frame: int) -> Boundary:
    kind = _kind(seen.expected, seen.unexpected)
    return Boundary(frame, level, kind, seen.kl_static, seen.kl_change, seen.threshold)


def _kind(expected: bool, unexpected: bool) -> Kind:
    if expected and unexpected:
        return "both"
    if expected or unexpected:
        return "expected" if expected else "unexpected"
    return "clock"
