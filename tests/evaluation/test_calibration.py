"""Calibration, against values computed by hand and for forecasts of known quality."""

import numpy as np
import pytest

from vpr.evaluation import calibration


def test_by_hand() -> None:
    forecast = np.array([0.05, 0.05, 0.52, 0.58, 1.0])
    outcomes = np.array([False, True, True, False, True])
    measured = calibration(forecast, outcomes)
    assert measured.forecast == pytest.approx([0.05, 0.55, 1.0])
    assert measured.frequency == pytest.approx([0.5, 0.5, 1.0])
    assert measured.cases == [2, 2, 1]
    assert measured.error == pytest.approx((2 * 0.45 + 2 * 0.05) / 5)
    brier = (0.05**2 + 0.95**2 + 0.48**2 + 0.58**2) / 5
    assert measured.skill == pytest.approx(1 - brier / 0.24)


def test_the_mean_rate_is_calibrated_and_has_no_skill() -> None:
    outcomes = np.arange(100) % 4 == 0
    measured = calibration(np.full(100, 0.25), outcomes)
    assert measured.error == pytest.approx(0)
    assert measured.skill == pytest.approx(0)


def test_perfect_forecasts_have_skill_1() -> None:
    outcomes = np.arange(100) % 4 == 0
    measured = calibration(outcomes.astype(float), outcomes)
    assert measured.error == 0
    assert measured.skill == 1


def test_overconfident_forecasts_are_not_calibrated() -> None:
    outcomes = np.arange(1000) % 10 == 0
    assert calibration(np.zeros(1000), outcomes).error == pytest.approx(0.1)


def test_true_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    forecast = rng.random(20_000)
    measured = calibration(forecast, rng.random(20_000) < forecast)
    assert measured.error < 0.02
    assert measured.skill == pytest.approx(1 / 3, abs=0.02)


def test_no_cases_and_constant_outcomes() -> None:
    assert calibration(np.zeros(0), np.zeros(0, dtype=bool)) == ([], [], [], 0, 0)
    assert calibration(np.full(5, 0.2), np.zeros(5, dtype=bool)).skill == 0
