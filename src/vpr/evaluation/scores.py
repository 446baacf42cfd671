"""Boundaries against change points: precision, recall, F1, false-positive rate, exact frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Marks = NDArray[np.bool_]  # (sequences, frames)


class Scores(NamedTuple):
    """A ratio without a denominator is 0: nothing found, or nothing to find."""

    precision: float
    recall: float
    f1: float
    fpr: float  # share of the frames without a change that were marked


def score(detected: Marks, true: Marks) -> Scores:
    """Exact frame; the first frame, where every level begins, is left out."""
    detected, true = detected[:, 1:], true[:, 1:]
    hits = float((detected & true).sum())
    found, changes = float(detected.sum()), float(true.sum())
    return Scores(
        precision=_ratio(hits, found),
        recall=_ratio(hits, changes),
        f1=_ratio(2 * hits, found + changes),
        fpr=_ratio(found - hits, true.size - changes),
    )


def periodic_like(detected: Marks) -> Marks:
    """As many marks as `detected` has, at equal distances along all frames."""
    marks = np.zeros_like(detected)
    inner = marks[:, 1:].reshape(-1)
    count = int(detected[:, 1:].sum())
    inner[np.linspace(0, inner.size, count, endpoint=False).astype(int)] = True
    marks[:, 1:] = inner.reshape(detected[:, 1:].shape)
    return marks


def random_like(detected: Marks, rng: np.random.Generator) -> Marks:
    """As many marks as `detected` has, anywhere."""
    marks = np.zeros_like(detected)
    inner = marks[:, 1:].reshape(-1)
    inner[rng.choice(inner.size, int(detected[:, 1:].sum()), replace=False)] = True
    marks[:, 1:] = inner.reshape(detected[:, 1:].shape)
    return marks


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0
