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


def boundaries(evidence: Sequence[Evidence], sequence: int, frame: int) -> Iterator[Boundary]:
    """What the levels (level 1 first) detected at one frame of one sequence of the batch."""
    for level, seen in enumerate(evidence[1:], start=2):
        if not bool(seen.boundary[sequence]):
            return  # nested: nothing above can have updated
        yield Boundary(
            frame,
            level,
            _kind(bool(seen.expected[sequence]), bool(seen.unexpected[sequence])),
            float(seen.kl_static[sequence]),
            float(seen.kl_change[sequence]),
            float(seen.threshold[sequence]),
        )


def _kind(expected: bool, unexpected: bool) -> Kind:
    if expected and unexpected:
        return "both"
    if expected or unexpected:
        return "expected" if expected else "unexpected"
    return "clock"
