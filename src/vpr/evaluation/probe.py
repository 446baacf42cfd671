"""How much the state of a level tells of a factor: a quadratic probe, judged on other sequences.

A state is in units of its prior, N(0, 1) at the top; the ridge is too, so that a difference far
smaller than what the level could express counts for little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIRECTIONS = 24  # those in which a state varies most; their products are 300
RIDGE = 1e-3

Matrix = NDArray[np.float64]
Forecast = Callable[[Matrix], Matrix]  # what is true of the frames learned from → of the others


def told(states: NDArray[np.floating[Any]], factors: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Of each factor (B, T, ...) the share that the states (B, T, S) tell, from 0 to 1.

    The probe learns from the first half of the sequences and is judged on the others. Of numbers
    it is R²; of classes (whole numbers) the share of mistakes that the states avoid, beside
    always naming the commonest. A factor with several values is their mean.
    """
    half = len(states) // 2
    learn, judge = _features(states[:half], states[half:])
    inverse = np.linalg.inv(learn.T @ learn + RIDGE * len(learn) * np.eye(learn.shape[1]))

    def forecast(known: Matrix) -> Matrix:
        return judge @ (inverse @ (learn.T @ known))

    return {
        name: float(np.mean([_share(forecast, *part) for part in _parts(values, half)]))
        for name, values in factors.items()
    }


def _features(learn: NDArray[Any], judge: NDArray[Any]) -> tuple[Matrix, Matrix]:
    """Directions, their products and 1: rows for each frame."""
    flat = [part.reshape(-1, part.shape[-1]).astype(np.float64) for part in (learn, judge)]
    centre = flat[0].mean(0)
    _, axes = np.linalg.eigh(np.cov(flat[0].T).reshape(len(centre), -1))
    main = axes[:, ::-1][:, :DIRECTIONS]
    first, second = (_quadratic((part - centre) @ main) for part in flat)
    return first, second


def _quadratic(x: Matrix) -> Matrix:
    i, j = np.triu_indices(x.shape[1])
    return np.concatenate([np.ones((len(x), 1)), x, x[:, i] * x[:, j]], 1)


def _parts(values: NDArray[Any], half: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Each value of a factor over the frames to learn from, and over those to be judged on."""
    flat = values.reshape(*values.shape[:2], -1)
    return [(flat[:half, :, k].ravel(), flat[half:, :, k].ravel()) for k in range(flat.shape[2])]


def _share(forecast: Forecast, known: NDArray[Any], true: NDArray[Any]) -> float:
    share = _classes if known.dtype.kind in "iub" else _numbers
    return min(max(share(forecast, known, true), 0.0), 1.0)


def _numbers(forecast: Forecast, known: NDArray[Any], true: NDArray[Any]) -> float:
    known, true = known.astype(np.float64), true.astype(np.float64)
    error = true - known.mean() - forecast(known - known.mean())
    spread = float(((true - known.mean()) ** 2).sum())
    return 1 - float((error**2).sum()) / spread if spread else 0.0


def _classes(forecast: Forecast, known: NDArray[Any], true: NDArray[Any]) -> float:
    names, counts = np.unique(known, return_counts=True)
    likely = forecast((known[:, None] == names).astype(np.float64))
    named = names[likely.argmax(1)]
    mistakes, blind = (float((each != true).mean()) for each in (named, names[counts.argmax()]))
    return 1 - mistakes / blind if blind else 0.0
