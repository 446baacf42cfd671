"""Factors of generated frames are compared with the cycle of the dataset."""

import numpy as np
import pytest
import torch

from tests.baselines.made import model as baseline
from tests.baselines.made import video as baseline_video
from tests.conftest import tiny_run
from vpr import VPR, rollout, sample
from vpr.data import MovingBall, ThreeDShapesDynamic, evaluation_rng
from vpr.evaluation.factor_readers import CHUNK, Reading, read_ball
from vpr.evaluation.generated_factors import (
    ROLLOUT_CHUNK,
    advances_by_one,
    events_in,
    future,
    in_order,
    mean_entropy,
    read_draws,
    read_open_loop,
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
    read = read_rollout(model, read_ball, video, 2, 3)
    np.testing.assert_array_equal(read["colour"], read_ball(frames)["colour"])
    assert read["position"].shape == (CHUNK + 2, 3, 2)


def test_samples_have_a_seed(model: VPR, video: torch.Tensor) -> None:
    one, two, other = (
        read_rollout(model, read_ball, video, 2, 3, below="samples", seed=seed)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one["position"], two["position"])
    assert (one["position"] != other["position"]).any()


def test_present_is_read_from_the_last_reconstruction(model: VPR, video: torch.Tensor) -> None:
    with torch.no_grad():
        frames = model.reconstruct(model.observe(video).c0[:, -1])
    read = read_reconstruction(model, read_ball, video)
    np.testing.assert_array_equal(read["colour"], read_ball(frames)["colour"])


def test_entropy_is_that_of_the_shares_averaged_over_trials() -> None:
    assert mean_entropy(np.full((3, 8), 5)) == 0
    assert mean_entropy(np.array([[0, 1, 2, 3]])) == pytest.approx(np.log(4))
    assert mean_entropy(np.array([[0, 0, 1, 1], [7, 7, 7, 7]])) == pytest.approx(np.log(2) / 2)
    skewed = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert mean_entropy(np.array([[2, 2, 2, -1]])) == pytest.approx(skewed)


def test_a_trial_is_the_draws_of_a_sequence(model: VPR, video: torch.Tensor) -> None:
    with torch.no_grad():
        state = model.observe(video[:3]).state
    frames = sample(model, state, 1, 4, torch.Generator().manual_seed(7)).frames
    read = read_draws(model, read_ball, video[:3], 1, 4, seed=7)
    np.testing.assert_array_equal(read["position"], read_ball(frames)["position"])
    assert read["colour"].shape == (3, 4)


class Brightness:
    """Reads the mean of a frame."""

    def __call__(self, frames: torch.Tensor) -> Reading:
        return {"mean": frames.mean((-3, -2, -1)).numpy()}


def test_predicted_frames_are_read_in_order() -> None:
    net, seen = baseline("cw-vae").eval(), baseline_video(batch=CHUNK + 1)
    found = read_open_loop(net, Brightness(), seen, ROLLOUT_CHUNK + 3, samples=False)["mean"]
    assert found.shape == (CHUNK + 1, ROLLOUT_CHUNK + 3)
    whole = net.rollout(net.observe(seen).state, 1, ROLLOUT_CHUNK + 3).frames
    np.testing.assert_allclose(found, whole.mean((-3, -2, -1)).numpy())


def test_samples_depend_on_the_seed_only() -> None:
    net, seen = baseline("vta").eval(), baseline_video()
    found = [read_open_loop(net, Brightness(), seen, 5, seed=s)["mean"] for s in (0, 0, 1)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_events_are_changes() -> None:
    decoded = np.array([[2, 2, 3, 3, 0], [1, 2, 3, 0, 1], [4, 4, 4, 4, 4]])
    found = events_in(decoded, last=np.array([2, 0, 4]), count=3)
    assert found.tolist() == [[3, 0, -1], [1, 2, 3], [-1, -1, -1]]


def test_future_equals_the_continuation_of_the_dataset() -> None:
    data = ThreeDShapesDynamic()
    seen, whole = (data.batch(6, length, evaluation_rng(2)) for length in (9, 40))
    for factor, period in (("floor", 1), ("wall", 4), ("object", 8)):
        true = whole.factors[factor]
        np.testing.assert_array_equal(true[:, :9], seen.factors[factor])
        found = future(seen.factors[factor], seen.changes[factor], period, 10, 31)
        np.testing.assert_array_equal(found, true[:, 9:])
