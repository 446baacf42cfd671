"""Do forecasts of p come true in a share p of the cases: reliability curve, calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10  # of equal width


class Calibration(NamedTuple):
    """The curve has one point for each bin of probabilities that was forecast at all.

    Whoever always says the mean rate is calibrated too, and of no use: hence the skill.
    """

    forecast: list[float]  # mean probability in the bin
    frequency: list[float]  # how often it came true
    cases: list[int]
    error: float  # Σ cases · |forecast − frequency| / Σ cases: expected calibration error
    skill: float  # 1 − Brier score over that of the mean rate: 1 knows all, 0 knows the rate


def calibration(forecast: NDArray[np.floating], came: NDArray[np.bool_]) -> Calibration:
    """Probabilities (M,) against what came (M,)."""
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
    """0 where there is nothing to know."""
    rate = came.mean() if came.size else 0.0
    blind = rate * (1 - rate)
    return float(1 - ((forecast - came) ** 2).mean() / blind) if blind else 0.0
