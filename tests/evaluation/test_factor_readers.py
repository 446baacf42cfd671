"""Readers recover the factors of pictures of the dataset."""

import numpy as np
import pytest
import torch

from vpr.data import MovingBall, ThreeDShapesDynamic, evaluation_rng
from vpr.evaluation.extractor import Extractor, fit_extractor
from vpr.evaluation.factor_readers import accuracy, read_ball


@pytest.mark.parametrize("size", [16, 64])
def test_every_true_ball_has_its_colour_and_place(size: int) -> None:
    batch = MovingBall(size=size).batch(8, 20, evaluation_rng(0))
    reading = read_ball(torch.from_numpy(batch.frames))
    assert accuracy(reading, batch.factors) == {"colour": 1.0}
    true = batch.factors["position"]
    inside = ((true > size / 8) & (true < size * 7 / 8)).all(-1)  # no part of it out of the frame
    assert inside.any()
    assert np.abs(reading["position"] - true)[inside].max() < 0.5


def test_a_faint_or_missing_ball_has_no_colour() -> None:
    batch = MovingBall().batch(2, 3, evaluation_rng(0))
    frames = torch.from_numpy(batch.frames)
    assert (read_ball(torch.zeros_like(frames))["colour"] == -1).all()
    assert (read_ball(0.3 * frames)["colour"] == -1).all()
    assert (read_ball(0.7 * frames)["colour"] == batch.factors["colour"]).all()


def test_accuracy_is_of_integer_factors() -> None:
    reading = {"position": np.zeros((4, 2)), "colour": np.array([0, 1, 2, -1])}
    true = {"position": np.ones((4, 2)), "colour": np.array([0, 1, 0, 0])}
    assert accuracy(reading, true) == {"colour": 0.5}


def test_an_extractor_names_all_factors_of_any_number_of_frames() -> None:
    data = ThreeDShapesDynamic()
    extractor = Extractor(data.counts)
    frames = torch.from_numpy(data.batch(2, 3, evaluation_rng(0)).frames)
    reading = extractor(frames)
    assert reading.keys() == data.counts.keys()
    assert all(values.shape == (2, 3) for values in reading.values())
    assert all(values.max() < data.counts[name] for name, values in reading.items())
    np.testing.assert_array_equal(extractor(frames[1])["wall"], reading["wall"][1])


def test_an_extractor_learns_and_is_deterministic() -> None:
    data = ThreeDShapesDynamic()
    one, two = (fit_extractor(data, 40, seed=1) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    batch = data.batch(64, 2, evaluation_rng(0))
    right = accuracy(one(torch.from_numpy(batch.frames)), batch.factors)
    assert right["floor"] > 0.2  # of ten hues
