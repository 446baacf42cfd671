"""Nested worlds: deterministic by index, labels match pixels, clocks have their mean durations."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vpr import VPRError
from vpr.cli import main
from vpr.data import Batch, NestedWorld
from vpr.data.nested_render import SIZE, Scene, render
from vpr.data.nested_spec import (
    DEVELOPMENT,
    DURATIONS,
    EVALUATION,
    FASTEST,
    MEAN_LIMITS,
    ORDERS,
    SLOW,
    Clock,
    draw_changes,
    draw_world,
    factor_changes,
    factor_values,
)
from vpr.data.nested_world import _bounce, _circle, level_changes

WORLDS = [*DEVELOPMENT, *EVALUATION]
RENDERINGS = ("shift", "lighting", "backdrop", "shape", "colour", "texture")


def batch(
    world: int, count: int = 4, length: int = 40, seed: int = 0, clean: bool = False
) -> Batch:
    return NestedWorld(world, clean).batch(count, length, np.random.default_rng(seed))


def any_scene(world: int, count: int, rng: np.random.Generator) -> Scene:
    """Scenes (count, 1) in which every rendering has a random value."""
    spec = draw_world(world)
    scene: Scene = {name: np.zeros((count, 1), dtype=np.int64) for name in RENDERINGS}
    for name in {*spec.variants, *spec.factors} - {"position"}:
        scene[name] = rng.integers(spec.values(name), size=(count, 1))
    return scene | {"position": rng.integers(spec.radius, SIZE - spec.radius, size=(count, 1, 2))}


def changed_pixels(before: Scene, after: Scene, world: int) -> NDArray[np.int64]:
    """How many pixels of each scene differ in a channel by twice the strongest noise: (count,)."""
    difference = np.abs(render(world, before) - render(world, after)).max(2)
    counted: NDArray[np.int64] = (difference >= 0.06).sum((-2, -1))[:, 0]
    return counted


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_is_valid(world: int) -> None:
    data, made = NestedWorld(world), batch(world)
    assert made.frames.shape == (4, 40, 3, 64, 64)
    assert made.frames.dtype == np.float32
    assert 0 <= made.frames.min() < made.frames.max() <= 1
    assert list(made.factors) == list(made.changes) == list(data.spec.factors)
    assert data.levels == len(made.factors) in (2, 3, 4)
    assert data.spec.factors[0] in FASTEST
    assert set(data.spec.factors[1:]) <= set(SLOW) - {data.spec.factors[0]}
    assert len(set(data.spec.factors)) == data.levels
    for name, count in data.counts.items():
        assert 0 <= made.factors[name].min() <= made.factors[name].max() < count
        assert 3 <= count <= 6 or name == data.spec.factors[0]
    assert 0 <= data.spec.noise <= 0.03
    assert 8 <= data.spec.radius <= 14


@pytest.mark.parametrize("world", WORLDS)
def test_durations_are_within_their_limits_and_three_to_five_times_the_last(world: int) -> None:
    means = draw_world(world).mean_frames()
    assert all(low <= mean <= high for mean, (low, high) in zip(means, MEAN_LIMITS, strict=False))
    assert all(3 <= b / a <= 5 for a, b in pairwise(means))


def test_numbers_of_levels_and_nested_worlds() -> None:
    for worlds in (DEVELOPMENT, EVALUATION):
        levels = [NestedWorld(world).levels for world in worlds]
        assert [levels.count(n) for n in (2, 3, 4)] == [8, 8, 4]
        assert sum(draw_world(world).nested for world in worlds) == 10


def test_both_sets_hold_every_kind() -> None:
    for worlds in (DEVELOPMENT, EVALUATION):
        specs = [draw_world(world) for world in worlds]
        assert {spec.factors[0] for spec in specs} == set(FASTEST)
        assert {name for spec in specs for name in spec.factors[1:]} == set(SLOW)
        assert {c.durations for spec in specs for c in spec.clocks} == set(DURATIONS)
        assert {c.order for spec in specs for c in spec.clocks} == set(ORDERS)
        assert {spec.distractor for spec in specs} == {"none", "jump", "flicker"}


def test_the_index_decides_the_world_and_the_generator_the_sequences() -> None:
    one, again, other = batch(7), batch(7), batch(7, seed=1)
    assert np.array_equal(one.frames, again.frames)
    assert not np.array_equal(one.frames, other.frames)
    world = draw_world(7)
    draw_world.cache_clear()
    assert draw_world(7) == world
    assert len({str(NestedWorld(index).description["factors"]) for index in WORLDS}) == 40


@pytest.mark.parametrize("world", WORLDS)
def test_a_change_is_a_new_value_and_new_pixels(world: int) -> None:
    made = batch(world, count=8, clean=True)
    for name, values in made.factors.items():
        differs = (np.diff(values.reshape(8, 40, -1), axis=1) != 0).any(-1)
        assert np.array_equal(made.changes[name][:, 1:], differs)
        assert not made.changes[name][:, 0].any()
    fastest = made.changes[NestedWorld(world).spec.factors[0]]
    assert fastest[:, 1:].all()
    difference = np.abs(np.diff(made.frames, axis=1)).max(2)  # (B, T - 1, H, W)
    assert ((difference >= 0.05).sum((-2, -1)) >= 30).all()


@given(world=st.integers(0, 10_000), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_each_factor_is_visible_whatever_the_others_are(world: int, seed: int) -> None:
    """Only one value of the scene changes: the difference of the pixels is due to it alone."""
    rng, spec = np.random.default_rng(seed), draw_world(world)
    scene = any_scene(world, 8, rng)
    for name in set(spec.factors) - {"position"}:
        step = 1 if name == spec.factors[0] else rng.integers(1, spec.values(name), size=(8, 1))
        other = scene | {name: (scene[name] + step) % spec.values(name)}
        assert changed_pixels(scene, other, world).min() >= 20, (world, name)


def test_rendering_is_a_pure_function_and_noise_comes_after() -> None:
    for world in (2, 3, 13):
        scene = any_scene(world, 5, np.random.default_rng(0))
        assert np.array_equal(render(world, scene), render(world, scene))
        noisy, clean = batch(world), batch(world, clean=True)
        for name in clean.factors:
            assert np.array_equal(noisy.factors[name], clean.factors[name])
        inside = (clean.frames > 0.15) & (clean.frames < 0.85)
        error = (noisy.frames - clean.frames)[inside]
        noise = draw_world(world).noise
        assert np.median(np.abs(error)) / 0.6745 == pytest.approx(noise, rel=0.05)


def test_a_distractor_covers_few_pixels() -> None:
    jump = next(world for world in WORLDS if draw_world(world).distractor == "jump")
    far = np.abs(batch(jump).frames - batch(jump, clean=True).frames).max(2) > 0.2
    assert 1 <= np.median(far.sum((-2, -1))) <= 9
    assert len(np.unique(far.reshape(160, -1).argmax(1))) > 100


def test_in_a_nested_world_a_factor_changes_only_with_the_faster_ones() -> None:
    together = []
    for world in WORLDS:
        made = batch(world, count=6, length=100, clean=True)
        changes = list(made.changes.values())
        held = all((slow <= fast).all() for fast, slow in pairwise(changes))
        if draw_world(world).nested:
            assert held, world
            truth = level_changes(made)
            assert all(np.array_equal(truth[n], changes[n - 1]) for n in truth)
        elif NestedWorld(world).levels > 2:
            together.append(held)
    assert len(together) > 5
    assert not any(together)


@pytest.mark.parametrize("world", [1, 2, 7, 17, 107])
def test_the_truth_of_levels_is_nested(world: int) -> None:
    made = batch(world, count=8, length=100)
    truth = level_changes(made)
    assert list(truth) == list(range(2, NestedWorld(world).levels + 1))
    changes = list(made.changes.values())
    for level, marks in truth.items():
        assert np.array_equal(marks, np.any(changes[level - 1 :], axis=0))
        assert (marks <= truth.get(level - 1, changes[0])).all()


@given(mean=st.integers(3, 20), durations=st.sampled_from(DURATIONS), order=st.sampled_from(ORDERS))
@settings(max_examples=30, deadline=None)
def test_a_clock_is_stationary_and_keeps_its_durations(
    mean: int, durations: str, order: str
) -> None:
    clock, rng = Clock(mean, durations, order), np.random.default_rng(mean)
    fired = draw_changes(clock, 4000, 4 * mean, rng)
    for part in np.array_split(fired, 4, axis=1):  # also at the beginning
        assert part.mean() == pytest.approx(1 / mean, rel=0.08)
    rows, columns = np.nonzero(fired)
    gaps = np.diff(columns)[np.diff(rows) == 0]
    assert gaps.min() >= clock.shortest
    assert clock.longest is None or gaps.max() <= clock.longest
    values = factor_values(clock, 4, fired, rng)
    steps = np.diff(values, axis=1)[fired[:, 1:]] % 4
    assert set(np.unique(steps)) == ({1} if order == "cyclic" else {1, 2, 3})


@pytest.mark.parametrize("world", WORLDS)
def test_mean_durations(world: int) -> None:
    spec = draw_world(world)
    changes = factor_changes(spec.clocks, spec.nested, 2000, 100, np.random.default_rng(world))
    for mean, marks in zip(spec.mean_frames(), changes, strict=True):
        assert marks[:, 1:].mean() == pytest.approx(1 / mean, rel=0.08)
        assert not marks[:, 0].any()


@pytest.mark.parametrize("world", [3, 4, 8, 100, 105])
def test_a_figure_moves_at_every_frame_and_stays_inside(world: int) -> None:
    spec, rng = draw_world(world), np.random.default_rng(world)
    move = _bounce if spec.motion.path == "bounce" else _circle
    place = move(spec.motion, spec.radius, 200, 500, rng)
    assert (np.abs(np.diff(place, axis=1)).max(-1) >= 1).all()
    assert spec.radius <= place.min() <= place.max() <= SIZE - 1 - spec.radius


def test_description_and_counts() -> None:
    data = NestedWorld(2)
    assert data.description["clocks"] == "nested"
    assert list(data.description["factors"]) == list(data.spec.factors)
    assert data.counts["lighting"] == 8
    assert "position" not in NestedWorld(3).counts


def test_a_negative_world_raises() -> None:
    with pytest.raises(VPRError, match="needs a world of 0 or more, got -1"):
        NestedWorld(-1)


def test_data_command(tmp_path: Path) -> None:
    words = ["data", "nested-world", "--world", "3", "--out", str(tmp_path), "--length", "3"]
    assert main(words) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"nested-world.png", "nested-world.gif"}
