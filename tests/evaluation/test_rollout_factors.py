"""Predicted factors are compared with the cycle of the dataset."""

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, rollout
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.factor_readers import CHUNK, BallReader
from vpr.evaluation.rollout_factors import (
    advances_by_one,
    in_order,
    read_reconstruction,
    read_rollout,
    unchanged,
)

BALL = MovingBall(size=16)


@pytest.fixture(scope="module")
def model() -> VPR:
    torch.manual_seed(0)
    return VPR(tiny_run(1).model)


@pytest.fixture(scope="module")
def video() -> torch.Tensor:
    return torch.from_numpy(BALL.batch(CHUNK + 2, 6, evaluation_rng(0)).frames)


def test_order_starts_at_the_last_observed_value() -> None:
    decoded = np.array([[5, 0, 1, 2], [1, 2, 2, 3], [1, -1, 3, 4]])
    last = np.array([4, 0, 0])
    wanted = [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 1]]
    np.testing.assert_array_equal(in_order(decoded, last, 6), np.array(wanted, bool))


def test_an_error_counts_once() -> None:
    decoded = np.array([[5, 0, 1, 2], [1, 2, 2, 3], [1, -1, 0, 1]])
    last = np.array([4, 0, 0])
    wanted = [[1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 0, 1]]  # nothing follows what cannot be read
    np.testing.assert_array_equal(advances_by_one(decoded, last, 6), np.array(wanted, bool))


def test_unchanged_compares_with_the_last_value() -> None:
    wanted = [[True, False], [False, True]]
    assert unchanged(np.array([[3, 4], [3, 2]]), np.array([3, 2])).tolist() == wanted


def test_values_are_read_from_a_rollout(model: VPR, video: torch.Tensor) -> None:
    with torch.no_grad():
        state = model.observe(video).state
    frames = rollout(model, state, 2, 3).frames
    read = read_rollout(model, BallReader(), video, 2, 3)
    np.testing.assert_array_equal(read["colour"], BallReader()(frames)["colour"])
    assert read["position"].shape == (CHUNK + 2, 3, 2)


def test_samples_have_a_seed(model: VPR, video: torch.Tensor) -> None:
    one, two, other = (
        read_rollout(model, BallReader(), video, 2, 3, below="samples", seed=seed)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one["position"], two["position"])
    assert (one["position"] != other["position"]).any()


def test_present_is_read_from_the_last_reconstruction(model: VPR, video: torch.Tensor) -> None:
    with torch.no_grad():
        frames = model.reconstruct(model.observe(video).c0[:, -1])
    read = read_reconstruction(model, BallReader(), video)
    np.testing.assert_array_equal(read["colour"], BallReader()(frames)["colour"])
