"""Precision, recall, F1 and false-positive rate of boundaries at the exact frame of a change.

For arrays of frames, such as the events of a model and the labels of a generated dataset;
`matching.py` compares times with a tolerance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.evaluation.matching import MatchCounts, boundary_scores

Marks = NDArray[np.bool_]  # (sequences, frames)


class Scores(NamedTuple):
    """Ratios with denominator 0 are 0."""

    precision: float
    recall: float
    f1: float
    fpr: float  # share of frames without a change that are marked
    f1_near: float  # F1 if boundary and change may be one frame apart, matched one to one


def score(detected: Marks, true: Marks) -> Scores:
    """Scores at the exact frame, without the first frame, at which every level updates."""
    detected, true = detected[:, 1:], true[:, 1:]
    hits = float((detected & true).sum())
    found, changes = float(detected.sum()), float(true.sum())
    return Scores(
        precision=_ratio(hits, found),
        recall=_ratio(hits, changes),
        f1=_ratio(2 * hits, found + changes),
        fpr=_ratio(found - hits, true.size - changes),
        f1_near=_near(detected, true).f1,
    )


def _near(detected: Marks, true: Marks) -> MatchCounts:
    """The matches within one frame, of all sequences."""
    rows = (map(np.flatnonzero, pair) for pair in zip(detected, true, strict=True))
    counts = [boundary_scores(found.tolist(), changes.tolist(), 1) for found, changes in rows]
    return sum(counts, MatchCounts())


def periodic_like(detected: Marks) -> Marks:
    """As many marks as `detected`, at equal distances."""
    marks = np.zeros_like(detected)
    inner = marks[:, 1:].reshape(-1)
    count = int(detected[:, 1:].sum())
    inner[np.linspace(0, inner.size, count, endpoint=False).astype(int)] = True
    marks[:, 1:] = inner.reshape(detected[:, 1:].shape)
    return marks


def random_like(detected: Marks, rng: np.random.Generator) -> Marks:
    """As many marks as `detected`, at random frames."""
    marks = np.zeros_like(detected)
    inner = marks[:, 1:].reshape(-1)
    inner[rng.choice(inner.size, int(detected[:, 1:].sum()), replace=False)] = True
    marks[:, 1:] = inner.reshape(detected[:, 1:].shape)
    return marks


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0
