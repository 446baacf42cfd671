"""Preprocessing: standardising, principal components, storing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from vpr.errors import VPRError
from vpr.features.preprocessing import (
    Preprocessing,
    fit_components,
    fit_standard,
    unit_length,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 8)) @ RNG.normal(size=(8, 8)) + 1e6


def chunks() -> list[np.ndarray]:
    return [ROWS[:100], ROWS[100:]]


def test_rows_are_standardised_whatever_their_mean() -> None:
    mean, scale = fit_standard(chunks)
    found = Preprocessing(mean, scale)(ROWS)
    assert np.allclose(found.mean(0), 0, atol=1e-5)
    assert np.allclose(found.std(0), 1, atol=1e-4)


def test_a_constant_feature_becomes_zero() -> None:
    rows = np.c_[np.full(50, 0.1), np.arange(50.0)]
    mean, scale = fit_standard(lambda: [rows])
    assert (Preprocessing(mean, scale)(rows)[:, 0] == 0).all()


def test_components_are_uncorrelated_sorted_and_keep_distances() -> None:
    mean, _ = fit_standard(chunks)
    scale, components = fit_components(chunks, mean, 8)
    found = Preprocessing(mean, scale, components)(ROWS).astype(np.float64)
    covariance = np.cov(found.T, bias=True)
    assert np.allclose(covariance, np.diag(np.diag(covariance)), atol=1e-4)
    assert (np.diff(np.diag(covariance)) <= 1e-6).all()
    assert np.isclose(np.diag(covariance).mean(), 1, atol=1e-4)
    # With all components, distances change by the common scale only.
    ours, theirs = (np.linalg.norm(x[0] - x[1]) for x in (found, ROWS))
    assert np.isclose(ours, theirs / scale[0], rtol=1e-4)


def test_too_many_components_are_an_error() -> None:
    mean, _ = fit_standard(chunks)
    with pytest.raises(VPRError, match="components must be 1 to 8"):
        fit_components(chunks, mean, 9)


def test_unit_length_ignores_the_length_of_rows() -> None:
    mean, scale = fit_standard(lambda: [unit_length(ROWS)])
    made = Preprocessing(mean, scale, unit_length=True)
    assert np.allclose(made(ROWS), made(3 * ROWS), atol=1e-5)
    assert (unit_length(np.zeros((2, 3))) == 0).all()


def test_it_is_stored_without_loss(tmp_path: Path) -> None:
    mean, _ = fit_standard(chunks)
    scale, components = fit_components(chunks, mean, 3)
    made = Preprocessing(mean, scale, components, "efficientnet-lite0", Fraction(25, 2), True)
    made.save(tmp_path / "features.safetensors")
    read = Preprocessing.load(tmp_path / "features.safetensors")
    assert (read.extractor, read.rate, read.unit_length) == ("efficientnet-lite0", made.rate, True)
    assert (read(ROWS) == made(ROWS)).all()
    assert (read.inputs, read.outputs) == (8, 3)


def test_vectors_of_another_size_are_an_error() -> None:
    mean, scale = fit_standard(chunks)
    with pytest.raises(VPRError, match="needs vectors of 8 features"):
        Preprocessing(mean, scale)(ROWS[:, :5])
