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


def calibration(forecast: NDArray[np.floating], outcomes: NDArray[np.bool_]) -> Calibration:
    """Compare probabilities (M,) with outcomes (M,)."""
    bin_index = np.minimum((forecast * BINS).astype(int), BINS - 1)
    cases = np.bincount(bin_index, minlength=BINS)
    used = cases > 0
    forecast_mean, frequency = (
        np.bincount(bin_index, weights=each, minlength=BINS)[used] / cases[used]
        for each in (forecast, outcomes)
    )
    cases = cases[used]
    error = float((cases * np.abs(forecast_mean - frequency)).sum() / max(cases.sum(), 1))
    return Calibration(
        forecast_mean.tolist(),
        frequency.tolist(),
        cases.tolist(),
        error,
        _skill(forecast, outcomes),
    )


def _skill(forecast: NDArray[np.floating], outcomes: NDArray[np.bool_]) -> float:
    """0 if all outcomes are equal."""
    rate = outcomes.mean() if outcomes.size else 0.0
    baseline = rate * (1 - rate)
    return float(1 - ((forecast - outcomes) ** 2).mean() / baseline) if baseline else 0.0
