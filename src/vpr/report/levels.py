"""One level in numbers: how often it updates, what decides, and how far its beliefs move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Kind
from vpr.evaluation import Lengths, lengths
from vpr.evaluation.scores import Marks
from vpr.report.watch import Seen


class Key(NamedTuple):
    """The paper's key KL values: medians, in nats; None where there is nothing to compare."""

    kl_static: float | None  # D_st
    kl_change: float | None  # D_ch
    threshold: float | None  # of CU
    frames: int  # at which they were compared


class Level(NamedTuple):
    level: int
    update_rate: float  # share of frames, without the first, which opens every level
    lengths: Lengths  # of its events, in frames
    kl: float  # nats a frame
    kinds: dict[Kind, float]  # share of its events by what decided
    at_events: Key
    between: Key  # where the signal arrived and the level held


def level_facts(level: int, seen: Seen) -> Level:
    later = Seen._make(each[:, 1:] for each in seen)
    asked = np.isfinite(later.kl_static)
    return Level(
        level=level,
        update_rate=float(later.boundary.mean()),
        lengths=lengths(seen.boundary),
        kl=float(seen.kl.mean()),
        kinds=_kinds(later),
        at_events=_key(later, asked & later.boundary),
        between=_key(later, asked & ~later.boundary),
    )


def _kinds(seen: Seen) -> dict[Kind, float]:
    expected, unexpected, count = seen.expected, seen.unexpected, max(seen.boundary.sum(), 1)
    marks: dict[Kind, Marks] = {
        "expected": expected & ~unexpected,
        "both": expected & unexpected,
        "unexpected": unexpected & ~expected,
        "clock": ~expected & ~unexpected,
    }
    return {kind: float((seen.boundary & where).sum() / count) for kind, where in marks.items()}


def _key(seen: Seen, where: Marks) -> Key:
    return Key(
        kl_static=_median(seen.kl_static[where]),
        kl_change=_median(seen.kl_change[where]),
        threshold=_median(seen.threshold[where]),
        frames=int(where.sum()),
    )


def _median(values: NDArray[np.float32]) -> float | None:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else None
