"""The one interface of all datasets: sequences from a generator, with their ground truth."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Batch(NamedTuple):
    """Sequences with what is true of every frame."""

    frames: NDArray[np.float32]  # (B, T, *frame) in [0, 1]
    factors: dict[str, NDArray[Any]]  # name → (B, T, ...), fastest factor first
    changes: dict[str, NDArray[np.bool_]]  # name → (B, T), True where the factor just changed


class Dataset(Protocol):
    """A recipe for sequences; the randomness is the caller's."""

    name: str
    frame: tuple[int, ...]

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch: ...
