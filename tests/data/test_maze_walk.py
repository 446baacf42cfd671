"""The plan of a maze and the walk through it."""

import numpy as np
import pytest

from vpr.data.maze_walk import (
    RADIUS,
    TURN_LENGTH,
    WIDTH,
    Plan,
    Walk,
    draw_plan,
    hallways_for,
    walk,
)

FRAMES, SPEEDS, LENGTHS = 600, (0.5, 0.9), (5.0, 9.0)


def made(seed: int, noise: float = 0.0) -> tuple[Plan, Walk]:
    rng = np.random.default_rng(seed)
    plan = draw_plan(hallways_for(FRAMES, SPEEDS[1], LENGTHS[0]), LENGTHS, 6, (2, 3), rng)
    return plan, walk(plan, FRAMES, SPEEDS, noise, rng)


def distance(plan: Plan, k: int, place: np.ndarray) -> float:
    """How far a place is from the line in the middle of hallway k."""
    begin, end = plan.corners[k : k + 2]
    share = ((place - begin) @ (end - begin) / ((end - begin) @ (end - begin))).clip(0, 1)
    return float(np.hypot(*(begin + share * (end - begin) - place)))


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_hallways(seed: int) -> None:
    plan, _ = made(seed)
    steps = np.diff(plan.corners, axis=0)
    lengths = np.abs(steps).sum(1)
    assert (lengths >= 5).all()
    assert (lengths <= 9).all()
    assert len(np.unique(lengths)) > 20
    assert np.allclose(steps / lengths[:, None], plan.directions)
    assert np.allclose(np.abs(np.diff(plan.headings)), np.pi / 2)
    assert set(plan.headings) == {0.0, np.pi / 2, np.pi}
    north = plan.corners[::2, 1]  # where those that lead west and east lie
    assert (np.diff(north) >= 2 * WIDTH).all()


@pytest.mark.parametrize("stay", [(1, 1), (2, 3), (1, 4)])
def test_colours_stay_and_follow_in_order(stay: tuple[int, int]) -> None:
    colours = draw_plan(400, LENGTHS, 4, stay, np.random.default_rng(0)).colours
    steps = np.diff(colours) % 4
    assert set(steps) <= {0, 1}
    runs = np.diff(np.flatnonzero(steps))
    assert set(runs) == set(range(stay[0], stay[1] + 1))


@pytest.mark.parametrize("seed", range(3))
def test_the_agent_stays_in_the_middle_of_its_hallway(seed: int) -> None:
    plan, (position, hallway, turning) = made(seed)
    for place, k, turns in zip(position[:, :2], hallway, turning, strict=True):
        # In a turn the way is a quarter circle, whose middle is this far from both middles.
        near = min(distance(plan, n, place) for n in range(max(k - 1, 0), k + 2))
        assert near < (RADIUS * (1 - np.sqrt(0.5)) + 1e-4 if turns else 1e-4)
        assert turns or distance(plan, k, place) == near


@pytest.mark.parametrize("seed", range(3))
def test_turning_is_near_corners_and_only_there(seed: int) -> None:
    plan, (position, hallway, turning) = made(seed)
    away = np.abs(position[:, None, :2] - plan.corners[1:]).max(-1).min(1)  # from any corner
    assert np.array_equal(turning, away < RADIUS - 1e-4)
    straight = np.abs(position[:, 2] - plan.headings[hallway]) < 1e-6
    assert (straight | turning).all()
    assert 0.2 < turning.mean() < 0.4


@pytest.mark.parametrize("seed", range(3))
def test_the_next_hallway_begins_at_a_third_of_a_turn(seed: int) -> None:
    plan, (position, hallway, turning) = made(seed)
    assert set(np.diff(hallway)) == {0, 1}
    turned = np.abs(position[:, 2] - plan.headings[hallway])
    into = turning & (np.abs(position[:, :2] - plan.corners[hallway + 1]).max(1) < RADIUS)
    for part, most in ((into, np.pi / 6), (turning & ~into, np.pi / 3)):
        assert most - 0.1 < turned[part].max() < most + 1e-5
    entered = np.flatnonzero(np.diff(hallway)) + 1
    assert (turning[entered] | turning[entered - 1]).all()
    assert len(entered) > 40


@pytest.mark.parametrize("seed", range(3))
def test_speed_keeps_within_its_bounds(seed: int) -> None:
    _, (position, _, turning) = made(seed)
    steps = np.hypot(*np.diff(position[:, :2], axis=0).T)
    assert (steps <= 0.9 + 1e-4).all()
    straight = ~turning[1:] & ~turning[:-1]
    assert (steps[straight] >= 0.5 - 1e-4).all()
    assert (steps >= 0.5 * 0.9).all()  # a chord is a little shorter than its arc
    same = straight[1:] & straight[:-1]
    assert np.allclose(steps[1:][same], steps[:-1][same], atol=1e-4)  # steady within a hallway
    assert steps[straight].max() - steps[straight].min() > 0.3


def test_noise_turns_the_head_and_nothing_else() -> None:
    (_, still), (_, noisy) = made(0), made(0, noise=np.radians(3))
    assert np.array_equal(still.position[:, :2], noisy.position[:, :2])
    strayed = np.degrees(noisy.position[:, 2] - still.position[:, 2])
    assert 2 < strayed.std() < 4
    assert 0.6 < np.corrcoef(strayed[1:], strayed[:-1])[0, 1] < 0.95  # it strays slowly


def test_there_are_hallways_enough_for_the_fastest() -> None:
    for frames in (2, 50, 1000):
        rng = np.random.default_rng(frames)
        count = hallways_for(frames, 2.5, 3.75)
        plan = draw_plan(count, (3.75, 3.75), 2, (1, 1), rng)
        last = walk(plan, frames, (2.5, 2.5), 0.0, rng).hallway[-1]
        assert last < count - 1  # into the last corner one would turn, and there is no way
    assert pytest.approx(np.pi / 2 * RADIUS) == TURN_LENGTH


def test_a_part_of_a_chain() -> None:
    plan, _ = made(0)
    part = plan.part(2, 7)
    assert [len(each) for each in part] == [6, 5, 5]
    assert np.array_equal(part.corners, plan.corners[2:8])
    assert np.array_equal(part.colours, plan.colours[2:7])
    assert len(plan.part(-1, 4).headings) == 4
