"""A probe predicts what a state represents, and nothing else."""

import numpy as np
import pytest

from vpr.evaluation.probe import probe_scores

RNG = np.random.default_rng(0)
STATES = RNG.normal(size=(40, 30, 6)).astype(np.float32)


def tells(factor: np.ndarray, states: np.ndarray = STATES) -> float:
    return probe_scores(states, {"factor": factor})["factor"]


def test_linear_and_quadratic_factors_have_score_1() -> None:
    assert tells(STATES[..., 0] - 2 * STATES[..., 3]) > 0.99
    assert tells(STATES[..., 1] * STATES[..., 2]) > 0.99
    assert tells(STATES[..., :2]) > 0.99


def test_half_of_the_variance_has_score_one_half() -> None:
    noise = RNG.normal(size=STATES.shape[:2])
    assert tells(STATES[..., 0] + noise) == pytest.approx(0.5, abs=0.08)


def test_xor_classes() -> None:
    signs = RNG.integers(2, size=(40, 30, 2))
    states = 2 * signs - 1 + 0.1 * RNG.normal(size=signs.shape)
    same = (signs[..., 0] == signs[..., 1]).astype(int)
    assert tells(same, states) > 0.99
    with_chance = np.stack([same, RNG.integers(3, size=same.shape)], -1)
    assert tells(with_chance, states) == pytest.approx(0.5, abs=0.05)


def test_an_independent_factor_has_score_0() -> None:
    assert tells(RNG.normal(size=STATES.shape[:2])) < 0.05
    assert tells(RNG.integers(5, size=STATES.shape[:2])) < 0.05
    of_the_sequence = np.repeat(RNG.integers(5, size=(40, 1)), 30, 1)
    assert tells(of_the_sequence) < 0.1


def test_a_constant_factor_has_score_0() -> None:
    assert tells(np.zeros(STATES.shape[:2], int)) == 0
    assert tells(np.ones(STATES.shape[:2])) == 0
    assert tells(STATES[..., 0], np.zeros_like(STATES)) == pytest.approx(0, abs=1e-2)


def test_small_differences_have_little_influence() -> None:
    assert tells(STATES[..., 0], STATES * 1e-3) < 0.05


@pytest.mark.parametrize("size", [1, 60])
def test_states_of_any_size(size: int) -> None:
    states = RNG.normal(size=(40, 30, size)) * np.linspace(1, 0.01, size)
    assert tells(states[..., 0], states) > 0.95
