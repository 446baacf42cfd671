"""The interface of all datasets, which `DATASETS` in `vpr.data` lists: sequences with labels.

The class of a new dataset also goes into the union `Data` in `vpr.config`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.features.preprocessing import Preprocessing
from vpr.utils.tree import shapes_in_repr

OnProgress = Callable[[int, int], None]  # done, total


@shapes_in_repr
class Batch(NamedTuple):
    """Sequences with the factors of every frame."""

    frames: NDArray[np.float32]  # (B, T, *frame), images in [0, 1]
    factors: dict[str, NDArray[Any]]  # name → (B, T, ...), fastest factor first
    changes: dict[str, NDArray[np.bool_]]  # name → (B, T), True where the factor just changed


class Dataset(Protocol):
    """A frozen dataclass that generates sequences with the caller's random generator."""

    @property
    def name(self) -> str: ...

    @property
    def frame(self) -> tuple[int, ...]:
        """Shape of one frame."""
        ...

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch: ...


@runtime_checkable
class Prepared(Protocol):
    """A dataset that needs preparation, such as rendering, before its first sequences."""

    def prepare(self, on_progress: OnProgress | None = None) -> None: ...


@runtime_checkable
class Recorded(Protocol):
    """A dataset whose sequences are windows of a fixed recording.

    `unseen` returns the held-out part, which the dataset itself never uses.
    """

    def unseen(self) -> Dataset: ...


def unseen(data: Dataset) -> Dataset:
    """The data for evaluation: the held-out part of a recording, or the dataset itself."""
    return data.unseen() if isinstance(data, Recorded) else data


@runtime_checkable
class Preprocessed(Protocol):
    """A dataset of vectors, which are preprocessed before the model sees them."""

    def preprocessing(self) -> Preprocessing: ...


@runtime_checkable
class Limited(Protocol):
    """A dataset whose sequences cannot be longer than its recordings."""

    def max_length(self) -> int: ...


def max_length(data: Dataset) -> int | None:
    """The number of frames of the longest possible sequence; None if there is no limit."""
    return data.max_length() if isinstance(data, Limited) else None


def factor_of(level: int, batch: Batch) -> str:
    """The factor that level n should follow: the n-th, or the last if there are fewer."""
    names = list(batch.changes)
    return names[min(level, len(names)) - 1]


def change_points(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a factor (B, T, ...) differs from the frame before."""
    changed = np.zeros(values.shape[:2], dtype=bool)
    differs = values[:, 1:] != values[:, :-1]
    changed[:, 1:] = differs.any(tuple(range(2, values.ndim)))
    return changed


def training_rng(seed: int) -> np.random.Generator:
    """The random generator of the training data of a seed."""
    return _rng(seed, 0)


def evaluation_rng(seed: int) -> np.random.Generator:
    """The random generator of the evaluation data of a seed, different from all training data."""
    return _rng(seed, 1)


def worker_rng(seed: int, worker: int) -> np.random.Generator:
    """The random generator of one DataLoader worker, different from training and evaluation."""
    return _rng(seed, 2, worker)


def _rng(seed: int, *stream: int) -> np.random.Generator:
    if not 0 <= seed < 2**32:  # larger seeds could give equal generators
        raise VPRError(f"seed must be 0 to 4294967295, got {seed}")
    return np.random.default_rng([seed, *stream])
