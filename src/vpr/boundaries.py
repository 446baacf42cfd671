"""Detected boundaries as records in plain numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from vpr.events import Evidence

Kind = Literal["expected", "unexpected", "both", "clock"]


class Boundary(NamedTuple):
    """An update of a level at a frame."""

    frame: int
    level: int  # 2 or higher: level 1 updates at every frame
    kind: Kind  # CE, CU, both, or a rule that uses neither
    kl_static: float  # D_st: how far the belief moved
    kl_change: float  # D_ch: the error of the predicted next event
    threshold: float  # of CU, for D_st


class LevelEvidence(NamedTuple):
    """The `Evidence` of one level at one frame of one sequence, in plain numbers."""

    kl_static: float
    kl_change: float
    threshold: float
    expected: bool
    unexpected: bool
    boundary: bool

    @classmethod
    def rows(cls, evidence: Evidence) -> list[LevelEvidence]:
        """One record per row (B,) of the tensors."""
        return [cls(*row) for row in zip(*(field.tolist() for field in evidence), strict=True)]


def boundaries(evidence: Sequence[LevelEvidence], frame: int) -> Iterator[Boundary]:
    """The boundaries at one frame, from the evidence of the levels, level 1 first."""
    for level, found in enumerate(evidence[1:], start=2):
        if not found.boundary:
            return  # nested: no level above can have updated
        kind = _kind(found.expected, found.unexpected)
        yield Boundary(frame, level, kind, found.kl_static, found.kl_change, found.threshold)


def batch_boundaries(evidence: Sequence[Evidence], sequence: int, frame: int) -> Iterator[Boundary]:
    """The boundaries of one sequence of a batch at one frame, from evidence (B,)."""
    of_sequence = (Evidence(*(field[sequence, None] for field in level)) for level in evidence)
    return boundaries([LevelEvidence.rows(level)[0] for level in of_sequence], frame)


def _kind(expected: bool, unexpected: bool) -> Kind:
    if expected and unexpected:
        return "both"
    if expected or unexpected:
        return "expected" if expected else "unexpected"
    return "clock"
