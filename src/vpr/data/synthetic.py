"""Synthetic: a number that jumps every ten steps; the semi-Markov dataset of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vpr.data.base import Batch
from vpr.errors import VPRError
from vpr.utils.config_fields import option


@dataclass(frozen=True)
class Synthetic:
    """One value in [0, 1] per frame; every `period` steps it jumps to another of `values` levels.

    The paper's jumps are random. With `order` above 0, each level is followed by its own fixed
    successor with that probability, which a transition model can learn.
    """

    name: ClassVar[str] = "synthetic"

    period: int = option(10, "Steps from one jump to the next.")
    values: int = option(5, "Number of levels of the signal.")
    order: float = option(
        0.0, "Probability that a level is followed by its fixed successor; 0: jumps are random."
    )

    def __post_init__(self) -> None:
        if self.period < 1 or not 2 <= self.values <= 1000 or not 0 <= self.order <= 1:
            raise VPRError(
                "synthetic needs period ≥ 1, 2 to 1000 values and order in [0, 1], "
                f"got {self.period}, {self.values}, {self.order}"
            )

    @property
    def frame(self) -> tuple[int, ...]:
        return (1,)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` steps, each with its own phase; the factor is `value`."""
        phase = rng.integers(self.period, size=(count, 1))
        segment = (np.arange(length) + phase) // self.period  # (count, length)
        value = np.take_along_axis(self._levels(count, int(segment.max()) + 1, rng), segment, 1)
        changed = np.zeros((count, length), dtype=bool)
        changed[:, 1:] = np.diff(segment, axis=1) > 0
        frames = (value / (self.values - 1)).astype(np.float32)
        return Batch(frames[..., None], {"value": value}, {"value": changed})

    def _levels(self, count: int, segments: int, rng: np.random.Generator) -> np.ndarray:
        """The level of each segment (count, segments): a Markov chain without self-transitions."""
        shift = rng.integers(1, self.values, size=(count, segments))
        ordered = rng.random((count, segments)) < self.order
        # By 2 steps (1 if there are only two levels), so that successive values are not adjacent.
        shift[ordered] = 2 if self.values > 2 else 1
        shift[:, 0] = rng.integers(self.values, size=count)
        return shift.cumsum(1) % self.values
