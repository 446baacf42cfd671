"""How well a quadratic probe predicts a factor from the state of a level, on held-out sequences.

States have the scale of their prior, N(0, 1) at the top level, and so has the ridge penalty:
differences much smaller than the prior's standard deviation have little influence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 24  # principal directions of the state; they have 300 products
RIDGE = 1e-3

Matrix = NDArray[np.float64]
Predict = Callable[[Matrix], Matrix]  # values at training frames → predictions at test frames


def probe_scores(
    states: NDArray[np.floating[Any]], factors: dict[str, NDArray[Any]]
) -> dict[str, float]:
    """The share of each factor (B, T, ...) that is predicted from states (B, T, S), from 0 to 1.

    The probe is trained on the first half of the sequences and scored on the others. The score is
    R² for floats; for integers (classes) it is the reduction of errors relative to the most
    frequent class. A factor with several values has the mean of their scores.
    """
    half = len(states) // 2
    train, test = _features(states[:half], states[half:])
    inverse = np.linalg.inv(train.T @ train + RIDGE * len(train) * np.eye(train.shape[1]))

    def predict(known: Matrix) -> Matrix:
        return test @ (inverse @ (train.T @ known))

    return {
        name: float(np.mean([_share(predict, *part) for part in _parts(values, half)]))
        for name, values in factors.items()
    }


def _features(train: NDArray[Any], test: NDArray[Any]) -> tuple[Matrix, Matrix]:
    """Principal components, their products and a constant: one row per frame."""
    flat = [part.reshape(-1, part.shape[-1]).astype(np.float64) for part in (train, test)]
    centre = flat[0].mean(0)
    _, axes = np.linalg.eigh(np.cov(flat[0].T).reshape(len(centre), -1))
    main = axes[:, ::-1][:, :DIRECTIONS]
    first, second = (_quadratic((part - centre) @ main) for part in flat)
    return first, second


def _quadratic(x: Matrix) -> Matrix:
    i, j = np.triu_indices(x.shape[1])
    return np.concatenate([np.ones((len(x), 1)), x, x[:, i] * x[:, j]], 1)


def _parts(values: NDArray[Any], half: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Each value of a factor at the training frames, and at the test frames."""
    flat = values.reshape(*values.shape[:2], -1)
    return [(flat[:half, :, k].ravel(), flat[half:, :, k].ravel()) for k in range(flat.shape[2])]


def _share(predict: Predict, known: NDArray[Any], true: NDArray[Any]) -> float:
    share = _error_reduction if known.dtype.kind in "iub" else _r_squared
    return min(max(share(predict, known, true), 0.0), 1.0)


def _r_squared(predict: Predict, known: NDArray[Any], true: NDArray[Any]) -> float:
    known, true = known.astype(np.float64), true.astype(np.float64)
    error = true - known.mean() - predict(known - known.mean())
    spread = float(((true - known.mean()) ** 2).sum())
    return 1 - float((error**2).sum()) / spread if spread else 0.0


def _error_reduction(predict: Predict, known: NDArray[Any], true: NDArray[Any]) -> float:
    names, counts = np.unique(known, return_counts=True)
    scores = predict((known[:, None] == names).astype(np.float64))
    chosen = names[scores.argmax(1)]
    errors, baseline = (float((each != true).mean()) for each in (chosen, names[counts.argmax()]))
    return 1 - errors / baseline if baseline else 0.0
