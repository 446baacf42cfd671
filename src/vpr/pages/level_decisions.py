"""The decisions of a level in a sequence: the common input of films in the demo and the report."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Boundary, batch_boundaries
from vpr.events import Evidence
from vpr.state import LevelTrace, Trace

Curve = NDArray[np.float64]  # (T,), NaN where the level was not evaluated


class LevelDecisions(Protocol):
    """The decisions of one level, 2 or higher, in one sequence, and the values compared."""

    @property
    def level(self) -> int: ...

    @property
    def boundaries(self) -> tuple[Boundary, ...]: ...

    @property
    def kl_static(self) -> Curve: ...

    @property
    def kl_change(self) -> Curve: ...

    @property
    def threshold(self) -> Curve: ...


def boundaries_of(trace: Trace, i: int) -> list[Boundary]:
    """The boundaries of all levels in sequence i, without the first frame."""
    found: list[Boundary] = []
    for t in range(1, trace.c0.shape[1]):
        now = [Evidence(*(v[:, t] for v in level.evidence)) for level in trace.levels]
        found += batch_boundaries(now, i, t)
    return found


def curves_of(level: LevelTrace, i: int) -> tuple[Curve, Curve, Curve]:
    """D_st, D_ch and threshold of a level in sequence i."""
    st, ch, threshold = (
        getattr(level.evidence, name)[i].double().cpu().numpy()
        for name in ("kl_static", "kl_change", "threshold")
    )
    return st, ch, threshold


def frames_of(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    """The frames (T,) that are marked."""
    return tuple(np.flatnonzero(marks).tolist())
