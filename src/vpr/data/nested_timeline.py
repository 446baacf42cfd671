"""Clocks of the factors of a nested world: when a factor changes, and to which value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DURATIONS = ("fixed", "uniform", "geometric")
ORDERS = ("cyclic", "random")


@dataclass(frozen=True)
class Clock:
    """How long a factor keeps a value, and which value comes next.

    `mean` is the mean duration in ticks. A tick is a frame, or a change of the next-faster
    factor. Durations are `fixed` (always `mean`), `uniform` (integers from `shortest` to
    `longest`) or `geometric` (a change at each tick with probability 1/mean). The order of the
    values is `cyclic` (the next value is the current one plus 1) or `random` (any other value).
    """

    mean: int
    durations: str
    order: str

    @property
    def shortest(self) -> int:
        """The shortest duration, in ticks."""
        return {"fixed": self.mean, "uniform": self.mean - self._half_range}.get(self.durations, 1)

    @property
    def longest(self) -> int | None:
        """The longest duration, in ticks; None if there is no limit."""
        return {"fixed": self.mean, "uniform": self.mean + self._half_range}.get(self.durations)

    @property
    def _half_range(self) -> int:
        return max(1, int(0.4 * self.mean))


def draw_changes(
    clock: Clock, count: int, ticks: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether the factor changes at each tick, (count, ticks).

    The process is stationary: the probability of a change is 1/mean at every tick.
    """
    if clock.longest is None:
        return rng.random((count, ticks)) < 1 / clock.mean
    possible = np.arange(clock.shortest, clock.longest + 1)
    # The duration that contains the first tick: longer ones are more likely to contain it.
    current = rng.choice(possible, size=count, p=possible / possible.sum())
    durations = rng.choice(possible, size=(count, ticks // clock.shortest + 1))
    durations[:, 0] = rng.integers(1, current + 1)  # the rest of it
    change = durations.cumsum(1) - 1  # the ticks of the changes
    row, column = np.nonzero(change < ticks)
    fired = np.zeros((count, ticks), dtype=bool)
    fired[row, change[row, column]] = True
    return fired


def factor_changes(
    clocks: tuple[Clock, ...], nested: bool, count: int, length: int, rng: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Where each slow factor changes, (count, length) each; never at the first frame.

    In a nested world the ticks of a clock are the changes of the clock before it; the ticks of
    the first clock, and of every clock of an independent world, are the frames.
    """
    ticking = np.ones((count, length), dtype=bool)
    ticking[:, 0] = False
    changes: list[NDArray[np.bool_]] = []
    for clock in clocks:
        fired = draw_changes(clock, count, length, rng)
        tick = np.maximum(ticking.cumsum(1) - 1, 0)  # number of the latest tick, from 0
        changed = ticking & np.take_along_axis(fired, tick, 1)
        changes.append(changed)
        if nested:
            ticking = changed
    return changes


def factor_values(
    clock: Clock, values: int, changed: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Values 0 to values − 1 of a factor with these changes, (count, length)."""
    start = rng.integers(values, size=(len(changed), 1))
    step = rng.integers(1, values, size=changed.shape) if clock.order == "random" else 1
    total: NDArray[np.int64] = start + (changed * step).cumsum(1)
    return total % values
