"""The physics of Bouncing Balls: conservation laws, and no overlap or escape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr.data.billiard import Path, _time_to_collisions, place_balls, simulate

RADIUS, BOX, UNTIL = 5.0, 53.0, 40


def path(balls: int, speed: float = 6.0, seed: int = 0, count: int = 20) -> Path:
    rng = np.random.default_rng(seed)
    position = place_balls(count, balls, RADIUS, BOX, rng)
    angle = rng.uniform(0, 2 * np.pi, (count, balls))
    velocity = speed * np.stack([np.sin(angle), np.cos(angle)], -1)
    return simulate(position, velocity, RADIUS, BOX, UNTIL)


def gaps(position: np.ndarray) -> np.ndarray:
    """Distances of all pairs of balls, (..., pairs)."""
    one, other = np.triu_indices(position.shape[-2], 1)
    return np.linalg.norm(position[..., one, :] - position[..., other, :], axis=-1)


@given(balls=st.integers(1, 4), speed=st.floats(0.1, 50), seed=st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_energy_is_kept_and_no_ball_leaves_the_box(balls: int, speed: float, seed: int) -> None:
    rolled = path(balls, speed, seed, count=4)
    energy = (rolled.velocity**2).sum((-1, -2))
    assert np.allclose(energy, balls * speed**2, rtol=1e-12)
    position, _ = rolled.at(np.linspace(0, UNTIL, 20 * UNTIL))
    assert -1e-9 < position.min() <= position.max() < BOX + 1e-9
    assert (gaps(position) > 2 * RADIUS - 1e-6).all()


def test_momentum_is_kept_when_balls_meet() -> None:
    rolled = path(balls=3)
    after, before = rolled.velocity[1:], rolled.velocity[:-1]
    moved = (after != before).any(-1)  # (events, B, K)
    alone = np.diff(rolled.walls, axis=0).any(-1)  # a wall was hit, not a ball
    assert alone.sum() > 100
    assert (~alone).sum() > 100
    assert (moved[alone].sum(-1) == 1).all()
    assert (moved[~alone].sum(-1) == 2).all()
    assert np.allclose(after.sum(-2)[~alone], before.sum(-2)[~alone], rtol=0, atol=1e-12)
    assert np.allclose(gaps(rolled.position[1:][~alone]).min(-1), 2 * RADIUS, atol=1e-9)


def test_walls_are_counted_where_a_velocity_turns() -> None:
    rolled = path(balls=3)
    hit = np.diff(rolled.walls, axis=0) == 1  # (events, B, K)
    assert np.array_equal(hit, np.diff(rolled.walls, axis=0) != 0)
    turned = rolled.velocity[1:][hit] == -rolled.velocity[:-1][hit]
    assert (turned.sum(-1) == 1).all()
    touched = rolled.position[1:][hit][turned]
    assert np.isin(touched, [0, BOX]).all()


def test_balls_roll_straight_between_events() -> None:
    rolled = path(balls=3)
    wait = np.diff(rolled.time, axis=0)
    assert (wait >= 0).all()
    assert rolled.time[-1].min() > UNTIL
    expected = rolled.position[:-1] + rolled.velocity[:-1] * wait[..., None, None]
    assert np.allclose(rolled.position[1:], expected, atol=1e-9)
    position, walls = rolled.at(rolled.time[:, 0])
    assert np.allclose(position[0], rolled.position[:, 0], atol=1e-9)
    assert np.array_equal(walls[0], rolled.walls[:, 0])


def one(position: list[list[float]], velocity: list[list[float]]) -> Path:
    start, speed = (np.array([values], dtype=float) for values in (position, velocity))
    return simulate(start, speed, RADIUS, BOX, 4)


def test_a_head_on_collision() -> None:
    rolled = one([[20, 10], [20, 26]], [[0, 3], [0, 0]])
    assert rolled.time[1, 0] == pytest.approx(2)
    assert np.allclose(rolled.velocity[1, 0], [[0, 0], [0, 3]])
    assert np.allclose(rolled.at(np.array([4.0]))[0][0, 0], [[20, 16], [20, 32]])


def test_an_oblique_collision() -> None:
    """At 45°, a ball at rest leaves along the line between them, the other at a right angle."""
    aside = 2 * RADIUS * np.sqrt(0.5)
    rolled = one([[20, 10], [20 + aside, 16 + aside]], [[0, 3], [0, 0]])
    assert rolled.time[1, 0] == pytest.approx(2)
    assert np.allclose(rolled.velocity[1, 0], [[-1.5, 1.5], [1.5, 1.5]])


def test_balls_that_pass_side_by_side_do_not_meet() -> None:
    rolled = one([[20, 20], [20 + 2 * RADIUS, 24]], [[0, 3], [0, -3]])
    assert not rolled.velocity[..., 0].any()


def test_a_negligible_approach_is_no_collision() -> None:
    """Touching balls whose speeds differ in the last bit: a collision would change nothing."""
    position = np.array([[[20, 20], [23, 20 + np.sqrt(90.999)]]])
    velocity = np.array([[[3, 3], [np.nextafter(3, 0), 3]]])
    pairs = np.array([[0], [1]])
    assert np.isinf(_time_to_collisions(position, velocity, RADIUS, pairs)).all()
    velocity[0, 1, 0] = 2
    assert (_time_to_collisions(position, velocity, RADIUS, pairs) == 0).all()


def test_a_corner_reverses_a_ball() -> None:
    rolled = one([[3, 3]], [[-2, -2]])
    position, walls = rolled.at(np.array([1.0, 2.0]))
    assert np.allclose(position[0, :, 0], [[1, 1], [1, 1]])
    assert walls[0, :, 0].tolist() == [0, 2]


def test_initial_positions_do_not_overlap() -> None:
    position = place_balls(300, 4, RADIUS, BOX, np.random.default_rng(1))
    assert (gaps(position) >= 2 * RADIUS).all()
    assert 0 <= position.min() < 1
    assert BOX - 1 < position.max() <= BOX
