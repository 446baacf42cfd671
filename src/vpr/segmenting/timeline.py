"""What was found in one piece of footage: its events, level by level, and what decided."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Boundary, Kind

Series = NDArray[np.float32]  # (frames,), NaN where the signal did not arrive


class Event(NamedTuple):
    """A level's features changed at a frame."""

    frame: int
    time: Fraction  # seconds, exact: presentation time × time base
    level: int  # 2 is the lowest that can hold back
    kind: Kind  # expected (CE), unexpected (CU), both; or a rule that asks neither
    kl_static: float  # D_st
    kl_change: float  # D_ch
    threshold: float  # γ · usual D_st

    @classmethod
    def of(cls, boundary: Boundary, time: Fraction) -> Event:
        b = boundary
        return cls(b.frame, time, b.level, b.kind, b.kl_static, b.kl_change, b.threshold)

    @property
    def fit(self) -> float:
        """ln D_st − ln D_ch: above 0 the predicted next state fits better than the old (CE)."""
        return _log_ratio(self.kl_static, self.kl_change)

    @property
    def surprise(self) -> float:
        """ln D_st − ln threshold: above 0 the belief moved more than usual (CU)."""
        return _log_ratio(self.kl_static, self.threshold)

    @property
    def score(self) -> float:
        """How clearly it was an event, by whichever criterion speaks louder."""
        return max(self.fit, self.surprise)


class Curves(NamedTuple):
    """What one level compared at every frame."""

    kl_static: Series
    kl_change: Series
    threshold: Series


@dataclass(frozen=True)
class Timeline:
    """The events of one piece of footage."""

    source: str  # its path, or what it was called
    model: str  # the name of the model that watched
    levels: int  # of the model; level 1 updates at every frame and has no events
    frames: int
    times: NDArray[np.float64]  # (frames,) seconds, for curves; an event's own time is exact
    boundaries: list[Event]  # by frame, then level
    curves: dict[int, Curves] = field(default_factory=dict)  # level 2, 3, …
    pictures: dict[int, bytes] = field(default_factory=dict)  # frame → small JPEG


def _log_ratio(a: float, b: float) -> float:
    """Of two divergences; one that is 0 (or unknown) is as good as endlessly small."""
    if math.isnan(a) or math.isnan(b):
        return -math.inf
    tiny = 1e-12
    return math.log(max(a, tiny)) - math.log(max(b, tiny))
