"""Calibration of probabilities: reliability curve, calibration error and skill."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10  # of equal width


class Calibration(NamedTuple):
    """The curve has one point for each bin that is not empty.

    Always predicting the mean rate is calibrated too, so the skill compares with that.
    """

    forecast: list[float]  # mean probability in the bin
    frequency: list[float]  # how often the event happened
    cases: list[int]
    error: float  # Σ cases · |forecast − frequency| / Σ cases: expected calibration error
    skill: float  # 1 − Brier score / Brier score of the mean rate


def calibration(forecast: NDArray[np.floating], came: NDArray[np.bool_]) -> Calibration:
    """Compare probabilities (M,) with outcomes (M,)."""
    place = np.minimum((forecast * BINS).astype(int), BINS - 1)
    cases = np.bincount(place, minlength=BINS)
    used = cases > 0
    said, was = (
        np.bincount(place, weights=each, minlength=BINS)[used] / cases[used]
        for each in (forecast, came)
    )
    cases = cases[used]
    error = float((cases * np.abs(said - was)).sum() / max(cases.sum(), 1))
    return Calibration(said.tolist(), was.tolist(), cases.tolist(), error, _skill(forecast, came))


def _skill(forecast: NDArray[np.floating], came: NDArray[np.bool_]) -> float:
    """0 if all outcomes are equal."""
    rate = came.mean() if came.size else 0.0
    blind = rate * (1 - rate)
    return float(1 - ((forecast - came) ** 2).mean() / blind) if blind else 0.0
