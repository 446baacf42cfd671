"""Bouncing Balls: colours change at walls only, labels and pixels agree."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr import VPRError
from vpr.cli import main
from vpr.data import Batch, BouncingBalls
from vpr.data.discs import COLOURS, draw_discs
from vpr.presets import preset


def batch(count: int = 8, length: int = 40, seed: int = 0, **fields: object) -> Batch:
    return BouncingBalls(**fields).batch(count, length, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "fields", [{}, {"size": 16, "balls": 3}, {"size": 32, "radius": 3.7, "balls": 5}]
)
def test_every_pixel(fields: dict[str, object]) -> None:
    """Pixel by pixel against the definition; the dataset draws only the square around a ball."""
    data = BouncingBalls(**fields)
    made = batch(3, 12, **fields)
    axis = np.arange(data.size, dtype=np.float32)
    wanted = np.zeros_like(made.frames)
    for k in range(data.balls):
        y, x = np.moveaxis(made.factors["position"][:, :, k, :, None], 2, 0)
        distance = ((axis - y) ** 2)[..., :, None] + ((axis - x) ** 2)[..., None, :]
        disc = distance <= (data.radius * data.size / 64) ** 2
        colour = COLOURS[made.factors["colour"][:, :, k]][..., None, None]
        wanted = np.where(disc[:, :, None], colour, wanted)
    assert np.array_equal(made.frames, wanted)
    assert made.frames.any((2, 3, 4)).all()


def test_a_later_ball_lies_on_an_earlier_one() -> None:
    position = np.array([[[[5, 5], [5, 7]]]], dtype=np.float32)
    (frame,) = draw_discs(position, np.array([[[0, 1]]]), 2.0, 16)[0]
    assert frame[:, 5, 4].tolist() == COLOURS[0].tolist()
    assert frame[:, 5, 6].tolist() == COLOURS[1].tolist()


@given(
    size=st.sampled_from([16, 20, 32]),
    balls=st.integers(1, 4),
    radius=st.floats(1, 6),
    speed=st.floats(0.5, 40),
    colours=st.integers(2, 6),
    seed=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_whole_balls_stay_in_the_frame(
    size: int, balls: int, radius: float, speed: float, colours: int, seed: int
) -> None:
    data = BouncingBalls(size=size, balls=balls, radius=radius, speed=speed, colours=colours)
    made = data.batch(3, 25, np.random.default_rng(seed))
    position, wide = made.factors["position"], radius * size / 64
    assert wide - 1e-4 <= position.min() <= position.max() <= size - 1 - wide + 1e-4
    assert made.factors["colour"].max() < colours
    step = np.linalg.norm(np.diff(position, axis=1), axis=-1)
    assert step.max() <= speed * size / 64 * np.sqrt(balls) + 1e-3


def test_one_ball_is_a_mirrored_straight_line() -> None:
    """A single ball has no collisions: the laps between walls determine place and colour."""
    made = batch(20, 70, balls=1)
    position = made.factors["position"][:, :, 0].astype(float)
    room, rng = 51, np.random.default_rng(0)
    start, angle = rng.uniform(0, room, (20, 1, 2)), rng.uniform(0, 2 * np.pi, (20, 1))
    straight = start + 4 * np.stack([np.sin(angle), np.cos(angle)], -1) * np.arange(70)[:, None]
    lap, within = np.divmod(straight, room)
    assert np.allclose(position, 6 + np.where(lap % 2 == 0, within, room - within), atol=1e-3)
    bounced = (np.diff(lap, axis=1) != 0).any(-1)
    assert np.array_equal(made.changes["colour-1"][:, 1:], bounced)
    assert bounced.sum() > 100


def test_colours_change_at_walls_and_not_at_balls() -> None:
    """A ball that turned with no other near met a wall; far from walls it met a ball."""
    made = batch(24, 100, balls=3, speed=2.0)
    position = made.factors["position"].astype(float)  # (B, T, K, 2)
    changed = np.stack([made.changes[f"colour-{k}"] for k in (1, 2, 3)], -1)
    fastest = 2 * np.sqrt(3)  # if one ball has all the energy
    to_wall = np.minimum(position - 6, 57 - position).min(-1)
    assert (to_wall[changed] <= fastest + 1e-3).all()

    gap = np.linalg.norm(position[:, :, :, None] - position[:, :, None], axis=-1)
    alone = ((gap + 99 * np.eye(3)).min(-1) > 12 + 2 * fastest)[:, 1:-1]
    inside = to_wall[:, 1:-1] > fastest
    step = np.diff(position, axis=1)
    turned = np.abs(np.diff(step, axis=1)).max(-1) > 1e-3  # on the way here, or from here on
    changed = changed[:, 1:-1] | changed[:, 2:]
    assert np.array_equal(changed[alone], turned[alone])
    assert (alone & turned).sum() > 100
    assert not changed[inside].any()
    assert (inside & turned).sum() > 50


@pytest.mark.parametrize("colours", [2, 6])
def test_a_hit_is_one_step_of_the_cycle(colours: int) -> None:
    """Also when a ball meets two walls between two frames: two colours would look unchanged."""
    made = batch(20, 40, colours=colours, speed=45.0)
    steps = np.diff(made.factors["colour"], axis=1) % colours
    assert set(np.unique(steps)) == {0, 1}
    assert steps.mean() > 0.5
    assert len(np.unique(made.factors["colour"][:, 0])) == colours


def test_joint_and_single_changes_agree() -> None:
    made = batch(balls=3)
    assert list(made.factors) == list(made.changes)
    assert list(made.factors) == ["position", "colour", "colour-1", "colour-2", "colour-3"]
    singles = [made.changes[f"colour-{k}"] for k in (1, 2, 3)]
    assert np.array_equal(made.changes["colour"], np.any(singles, 0))
    assert all(marks.any() for marks in singles)
    assert not np.array_equal(singles[0], singles[1])
    for k in range(3):
        assert np.array_equal(made.factors[f"colour-{k + 1}"], made.factors["colour"][..., k])


def test_rates_of_the_docs() -> None:
    made = batch(50, 100, size=32)
    assert made.changes["colour"][:, 1:].mean() == pytest.approx(0.19, abs=0.02)
    assert made.changes["colour-1"][:, 1:].mean() == pytest.approx(0.10, abs=0.01)


def test_a_seed_gives_the_same_pixels() -> None:
    one, again, other = batch(seed=3), batch(seed=3), batch(seed=4)
    assert np.array_equal(one.frames, again.frames)
    assert not np.array_equal(one.frames, other.frames)


def test_sizes_show_the_same_scene() -> None:
    """In the units of a 64×64 frame only the last pixel's width differs."""
    large, small = (batch(size=size, length=4).factors["position"] for size in (64, 32))
    assert np.abs(small * 2 - large).max() < 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"size": 1}, "needs size ≥ 2, 1 to 100 balls and 2 to 6 colours, got 1, 2, 6"),
        ({"balls": 0}, "1 to 100 balls"),
        ({"colours": 1}, "2 to 6 colours"),
        ({"colours": 7}, "2 to 6 colours"),
        ({"radius": 0.0}, "radius must be above 0 and fit into the frame, got 0"),
        ({"radius": 31.5}, "fit into the frame, got 31.5"),
        ({"radius": float("nan")}, "fit into the frame"),
        ({"speed": 0.0}, "speed must be above 0 and below 51"),
        ({"speed": 51.0}, "crosses the frame at once, got 51"),
        ({"speed": float("nan")}, "speed must be above 0"),
        ({"balls": 6}, "6 balls of radius 6 are too crowded: use fewer or smaller ones"),
    ],
)
def test_invalid_settings(fields: dict[str, object], words: str) -> None:
    with pytest.raises(VPRError, match=words):
        BouncingBalls(**fields)


def test_the_fullest_box_can_be_filled() -> None:
    assert batch(20, 30, balls=5).frames.any()
    assert batch(20, 30, balls=21, radius=3.0, size=32).frames.any()


def test_presets() -> None:
    paper, cpu = preset("paper/bouncing-balls"), preset("cpu/bouncing-balls")
    assert paper.data == cpu.data == BouncingBalls()
    assert (paper.model.levels, paper.model.state_size, paper.model.width) == (2, 60, 1024)
    assert (paper.model.likelihood, paper.training.length) == ("bernoulli", 15)
    assert cpu.model.levels == 2


def test_data_command(tmp_path: Path) -> None:
    words = ["data", "bouncing-balls", "--out", str(tmp_path), "--sequences", "2", "--length", "3"]
    assert main(words) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"bouncing-balls.png", "bouncing-balls.gif"}
