"""How much each term of the loss weighs, and when CE may speak, over the course of training."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Weights(NamedTuple):
    """What the loss of one step is made of."""

    reconstruction: float
    kl: tuple[float, ...]  # β of each level, level 1 first
    expected: bool  # may CE decide yet?


class Schedule(Protocol):
    def weights(self, step: int) -> Weights: ...
    def observe(self, step: int, reconstruction: float) -> None: ...


def between(step: float, start: float, end: float, low: float, high: float) -> float:
    """From `low` to `high` in a straight line over start…end, flat outside."""
    if end <= start:
        return high if step >= end else low
    share = min(max((step - start) / (end - start), 0.0), 1.0)
    return low + share * (high - low)
