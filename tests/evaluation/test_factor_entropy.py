"""H_v: the entropy of a factor among draws, averaged over trials."""

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, sample
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.factor_entropy import mean_entropy, read_draws
from vpr.evaluation.factor_readers import BallReader


def test_entropy_is_that_of_the_shares_averaged_over_trials() -> None:
    assert mean_entropy(np.full((3, 8), 5)) == 0
    assert mean_entropy(np.array([[0, 1, 2, 3]])) == pytest.approx(np.log(4))
    assert mean_entropy(np.array([[0, 0, 1, 1], [7, 7, 7, 7]])) == pytest.approx(np.log(2) / 2)
    skewed = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert mean_entropy(np.array([[2, 2, 2, -1]])) == pytest.approx(skewed)


def test_a_trial_is_the_draws_of_a_sequence() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1).model)
    video = torch.from_numpy(MovingBall(size=16).batch(3, 5, evaluation_rng(0)).frames)
    with torch.no_grad():
        state = model.observe(video).state
    frames = sample(model, state, 1, 4, torch.Generator().manual_seed(7)).frames
    read = read_draws(model, BallReader(), video, 1, 4, seed=7)
    np.testing.assert_array_equal(read["position"], BallReader()(frames)["position"])
    assert read["colour"].shape == (3, 4)
