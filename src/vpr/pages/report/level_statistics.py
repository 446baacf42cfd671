"""Statistics of one level: update rate, lengths and kinds of events, values compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.evaluation import EventLengths, event_lengths
from vpr.evaluation.scores import Marks
from vpr.events import Kind
from vpr.pages.report.observe import LevelObservations


class KeyValues(NamedTuple):
    """The paper's key KL values: medians in nats, None without any frames."""

    kl_static: float | None  # D_st
    kl_change: float | None  # D_ch
    threshold: float | None  # of CU
    frames: int  # at which they were compared


class LevelStatistics(NamedTuple):
    level: int
    update_rate: float  # share of frames, without the first, at which every level updates
    lengths: EventLengths  # of its events, in frames
    kl: float  # nats per frame
    kinds: dict[Kind, float]  # share of its events
    at_events: KeyValues
    between: KeyValues  # frames at which the level was evaluated and did not update


def level_statistics(level: int, found: LevelObservations) -> LevelStatistics:
    later = LevelObservations._make(each[:, 1:] for each in found)
    evaluated = np.isfinite(later.kl_static)
    return LevelStatistics(
        level=level,
        update_rate=float(later.boundary.mean()),
        lengths=event_lengths(found.boundary),
        kl=float(found.kl.mean()),
        kinds=_kinds(later),
        at_events=_key(later, evaluated & later.boundary),
        between=_key(later, evaluated & ~later.boundary),
    )


def _kinds(found: LevelObservations) -> dict[Kind, float]:
    expected, unexpected, count = found.expected, found.unexpected, max(found.boundary.sum(), 1)
    marks: dict[Kind, Marks] = {
        "expected": expected & ~unexpected,
        "both": expected & unexpected,
        "unexpected": unexpected & ~expected,
        "clock": ~expected & ~unexpected,
    }
    return {kind: float((found.boundary & where).sum() / count) for kind, where in marks.items()}


def _key(found: LevelObservations, where: Marks) -> KeyValues:
    return KeyValues(
        kl_static=_median(found.kl_static[where]),
        kl_change=_median(found.kl_change[where]),
        threshold=_median(found.threshold[where]),
        frames=int(where.sum()),
    )


def _median(values: NDArray[np.float32]) -> float | None:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else None
