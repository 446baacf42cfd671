"""All datasets: correct labels, independent random streams, reproducible seeds."""

from typing import get_args

import numpy as np
import pytest

from tests.conftest import short
from vpr import VPRError
from vpr.config import Data
from vpr.data import (
    DATASETS,
    MovingBall,
    Synthetic,
    dataset,
    evaluation_rng,
    factor_of,
    training_rng,
)
from vpr.data.discs import COLOURS


def test_a_run_can_have_any_dataset() -> None:
    """Each class is in the union `Data`, so that configurations can be read back."""
    assert set(get_args(Data)) == {type(data) for data in DATASETS.values()}


@pytest.mark.parametrize("name", DATASETS)
def test_interface(name: str) -> None:
    data = short(dataset(name))
    batch = data.batch(3, 20, np.random.default_rng(0))
    assert batch.frames.shape == (3, 20, *data.frame)
    assert batch.frames.dtype == np.float32
    if name != "vectors":
        assert 0 <= batch.frames.min() <= batch.frames.max() <= 1
    assert batch.factors.keys() == batch.changes.keys()
    assert all(values.shape[:2] == (3, 20) for values in batch.factors.values())
    assert not any(marks[:, 0].any() for marks in batch.changes.values())


@pytest.mark.parametrize("name", DATASETS)
def test_changes_are_the_differences_of_the_labels(name: str) -> None:
    batch = short(dataset(name)).batch(8, 60, np.random.default_rng(1))
    for factor, values in batch.factors.items():
        flat = values.reshape(*values.shape[:2], -1)
        moved = (np.diff(flat, axis=1) != 0).any(-1)
        assert np.array_equal(batch.changes[factor][:, 1:], moved)


@pytest.mark.parametrize("name", DATASETS)
def test_in_a_single_frame_nothing_changes(name: str) -> None:
    batch = short(dataset(name)).batch(2, 1, np.random.default_rng(0))
    assert all(marks.shape == (2, 1) and not marks.any() for marks in batch.changes.values())


@pytest.mark.parametrize("name", DATASETS)
def test_same_seed_same_pixels_and_streams_apart(name: str) -> None:
    data = short(dataset(name))
    train, again = (data.batch(4, 30, training_rng(5)).frames for _ in range(2))
    assert np.array_equal(train, again)
    for seed in range(8):
        assert not np.array_equal(train, data.batch(4, 30, evaluation_rng(seed)).frames)


@pytest.mark.parametrize(
    ("name", "factors"),
    [
        ("moving-ball", ["colour", "colour"]),  # level 3 has none of its own
        ("synthetic", ["value", "value"]),
        ("3dsd", ["wall", "object"]),
        ("bouncing-balls", ["colour", "colour-1"]),
    ],
)
def test_the_factors_of_levels_2_and_3(name: str, factors: list[str]) -> None:
    batch = dataset(name).batch(1, 2, np.random.default_rng(0))
    assert [factor_of(level, batch) for level in (2, 3)] == factors


def test_unknown_dataset_names_the_known_ones() -> None:
    with pytest.raises(VPRError, match=r"no dataset 'cats': choose one of moving-ball"):
        dataset("cats")


def test_ball_is_where_and_what_its_labels_say() -> None:
    batch = MovingBall().batch(6, 25, np.random.default_rng(2))
    ball = batch.frames.any(2)  # (B, T, H, W)
    for b, t in np.ndindex(6, 25):
        ys, xs = np.nonzero(ball[b, t])
        y, x = batch.factors["position"][b, t]
        assert np.hypot(ys - y, xs - x).max() <= 6
        colour = batch.frames[b, t][:, ys[0], xs[0]]
        assert np.array_equal(colour, COLOURS[batch.factors["colour"][b, t]])


@pytest.mark.parametrize(
    "ball",
    [
        MovingBall(),
        MovingBall(size=32, speed=2.5),
        MovingBall(radius=0.3),
        MovingBall(size=16, radius=9.3),
        MovingBall(radius=80.0),
    ],
)
def test_every_pixel_of_a_ball(ball: MovingBall) -> None:
    """Pixel by pixel against the definition; the dataset draws only the square around a ball."""
    batch = ball.batch(4, 12, np.random.default_rng(2))
    axis = np.arange(ball.size, dtype=np.float32)
    dy, dx = ((axis - batch.factors["position"][..., i, None]) ** 2 for i in range(2))
    disc = dy[..., :, None] + dx[..., None, :] <= (ball.radius * ball.size / 64) ** 2
    wanted = disc[:, :, None] * COLOURS[batch.factors["colour"]][..., None, None]
    assert np.array_equal(batch.frames, wanted)


def test_ball_moves_at_its_speed_and_changes_at_every_bounce() -> None:
    batch = MovingBall(change_probability=0).batch(32, 80, np.random.default_rng(3))
    position = batch.factors["position"].astype(float)
    assert 0 <= position.min() <= position.max() <= 63
    step = np.hypot(*np.moveaxis(np.diff(position, axis=1), -1, 0))
    turned = batch.changes["colour"][:, 1:]
    assert np.allclose(step[~turned], 6, atol=1e-3)
    velocity = np.diff(position, axis=1)
    sign_changed = (np.sign(velocity[:, 1:]) != np.sign(velocity[:, :-1])).any(-1)
    near = turned[:, 1:] | turned[:, :-1]  # the frame of the bounce may already move back
    assert (sign_changed <= near).all()
    assert sign_changed.sum() > 100


def test_slow_ball_changes_about_30_percent_less() -> None:
    fast, slow = (
        dataset(name).batch(200, 100, np.random.default_rng(4)).changes["colour"][:, 1:].mean()
        for name in ("moving-ball", "moving-ball-slow")
    )
    assert 0.19 < fast < 0.23
    assert 0.65 < slow / fast < 0.75


def test_synthetic_jumps_every_ten_steps() -> None:
    batch = Synthetic().batch(16, 100, np.random.default_rng(5))
    for marks in batch.changes["value"]:
        assert (np.diff(np.flatnonzero(marks)) == 10).all()
    chain = Synthetic(order=1.0).batch(4, 200, np.random.default_rng(6)).factors["value"][:, ::10]
    assert (np.diff(chain, axis=1) % 5 == 2).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: MovingBall(size=1),
        lambda: MovingBall(speed=0),
        lambda: MovingBall(change_probability=2),
        lambda: Synthetic(period=0),
        lambda: Synthetic(values=1),
    ],
)
def test_invalid_settings(make: object) -> None:
    with pytest.raises(VPRError):
        make()  # type: ignore[operator]
