"""The decisions of a level in a sequence: the common input of the demo and the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Boundary, batch_boundaries
from vpr.events import Evidence
from vpr.state import Trace

Curve = NDArray[np.float64]  # (T,), NaN where the level was not evaluated


@dataclass(frozen=True)
class LevelDecisions:
    """The decisions of one level in one sequence, and the values compared."""

    level: int  # 2 or higher
    boundaries: tuple[Boundary, ...]  # without the first frame, at which every level updates
    kl_static: Curve  # D_st
    kl_change: Curve  # D_ch
    threshold: Curve  # γ · mean(D_st)


def level_decisions(trace: Trace, i: int) -> tuple[LevelDecisions, ...]:
    """The decisions of levels 2 to N in sequence i."""
    found = boundaries_of(trace, i)
    levels = []
    for n, level in enumerate(trace.levels[1:], start=2):
        evidence = level.evidence
        curves = (evidence.kl_static, evidence.kl_change, evidence.threshold)
        st, ch, threshold = (curve[i].double().cpu().numpy() for curve in curves)
        own = tuple(boundary for boundary in found if boundary.level == n)
        levels.append(LevelDecisions(n, own, st, ch, threshold))
    return tuple(levels)


def boundaries_of(trace: Trace, i: int) -> list[Boundary]:
    """The boundaries of all levels in sequence i, without the first frame."""
    found: list[Boundary] = []
    for t in range(1, trace.c0.shape[1]):
        now = [Evidence(*(v[:, t] for v in level.evidence)) for level in trace.levels]
        found += batch_boundaries(now, i, t)
    return found


def frames_of(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    """The frames (T,) that are marked."""
    return tuple(np.flatnonzero(marks).tolist())
