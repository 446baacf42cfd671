"""The montage: a film with known cuts, detectors, scores and claims."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import vpr.experiments.known_cuts.detectors as montage_detectors
import vpr.experiments.known_cuts.montage_film as montage_film
import vpr.experiments.known_cuts.scenes as montage_scenes
from vpr.errors import VPRError
from vpr.evaluation.boundary_file_scores import evaluate_boundaries
from vpr.evaluation.tolerance import Tolerance
from vpr.experiments.figures.montage import EXPERIMENT, claims, scores, variants
from vpr.experiments.known_cuts.detectors import (
    change_points,
    choose_penalty,
    require_detectors,
    run_detectors,
)
from vpr.experiments.known_cuts.montage_film import (
    RATE,
    Film,
    Montage,
    Part,
    cuts,
    load_or_make_film,
    plan_scenes,
    split,
)
from vpr.experiments.known_cuts.scenes import (
    NEVER,
    available_kinds,
    draw_ball,
    draw_room,
    render_scene,
    scene_datasets,
    single_colour_maze,
)
from vpr.experiments.runner.base import Result
from vpr.utils.config_json import from_dict, to_dict
from vpr.video import open_footage
from vpr.video.mp4 import write_mp4

KINDS = ("ball", "3dsd", "maze")
SHORT = variants("tiny")["video"].film


def _ignore(done: int, total: int, note: str) -> None:
    pass


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Film:
    return load_or_make_film(SHORT, tmp_path_factory.mktemp("runs"), _ignore)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(20, 300), st.floats(0.5, 3), st.floats(0, 9))
def test_scenes_fill_the_film(seed: int, seconds: int, shortest: float, more: float) -> None:
    montage = Montage(seconds=seconds, shortest=shortest, longest=shortest + more, seed=seed)
    scenes = plan_scenes(montage, KINDS)
    low, high = round(shortest * RATE), round((shortest + more) * RATE)
    assert sum(each.frames for each in scenes) == seconds * RATE
    assert all(low <= each.frames <= high for each in scenes[:-1])
    assert low <= scenes[-1].frames < low + high
    assert all(a.kind != b.kind for a, b in pairwise(scenes))
    assert len({each.seed for each in scenes}) == len(scenes)
    first, rest = split(scenes, montage.training)
    assert [*first, *rest] == scenes
    share = sum(each.frames for each in first) / (seconds * RATE)
    assert montage.training <= share <= montage.training + high / (seconds * RATE)


def test_the_same_seed_is_the_same_film() -> None:
    assert plan_scenes(Montage(), KINDS) == plan_scenes(Montage(), KINDS)
    assert plan_scenes(Montage(), KINDS) != plan_scenes(Montage(seed=1), KINDS)


def test_an_hour_has_hundreds_of_cuts() -> None:
    training, test = split(plan_scenes(Montage(), KINDS), Montage().training)
    assert len(training) > 150
    assert len(test) > 250
    assert {each.kind for each in training} == {each.kind for each in test} == set(KINDS)


def test_cuts_are_where_the_pictures_change(made: Film) -> None:
    """In the encoded file, the scene changes exactly at the cuts."""
    for part, scenes in zip(
        (made.training, made.test), split(plan_scenes(SHORT, KINDS), SHORT.training), strict=True
    ):
        datasets = scene_datasets(SHORT.maze, testing=part == made.test)
        wanted = np.concatenate(
            [
                render_scene(datasets[s.kind], s.frames, np.random.default_rng(s.seed))
                for s in scenes
            ]
        )
        frames = list(open_footage(part.path))
        seen = np.stack([frame.picture[::2, ::2] for frame in frames])
        times = [frame.time for frame in frames]
        assert times == [Fraction(n, RATE) for n in range(len(wanted))]
        for time in part.cuts:
            first = times.index(time)
            for at, other in ((first, first - 1), (first - 1, first)):
                assert _far(seen[at], wanted[at]) < 0.5 * _far(seen[at], wanted[other])
    assert made.kinds == [*KINDS]


def _far(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    return float(np.abs(a.astype(float) - b).mean())


def test_the_film_has_the_planned_length_and_cuts(made: Film) -> None:
    parts = split(plan_scenes(SHORT, KINDS), SHORT.training)
    for part, mine in zip((made.training, made.test), parts, strict=True):
        assert [Fraction(frame, RATE) for frame in cuts(mine)] == part.cuts
        assert sum(1 for _ in open_footage(part.path)) == sum(each.frames for each in mine)


def test_a_film_is_made_once(made: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montage_film, "write_mp4", None)
    runs = made.test.path.parents[1]
    assert load_or_make_film(SHORT, runs, _ignore) == made
    assert len(list(runs.iterdir())) == 1


def test_an_interrupted_film_leaves_no_files(tmp_path: Path) -> None:
    def stop(done: int, total: int, note: str) -> None:
        if done == 2 * RATE and note.startswith("encoding"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_or_make_film(SHORT, tmp_path, stop)
    assert not list(tmp_path.iterdir())


def test_of_two_films_made_in_parallel_one_is_kept(
    made: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = made.test.path.parent.name

    def be_second(montage: Montage, own: Path, advance: object) -> None:
        own.mkdir(parents=True)
        shutil.copytree(made.test.path.parent, tmp_path / name)

    monkeypatch.setattr(montage_film, "_write_film", be_second)
    again = load_or_make_film(SHORT, tmp_path, _ignore)
    assert again.test.path.parent == tmp_path / name
    assert again.test.cuts == made.test.cuts
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_evaluate_boundaries_reads_the_cuts(made: Film) -> None:
    path = made.test.path.with_suffix(".csv")
    result = evaluate_boundaries(path, path, [Tolerance.parse("0s"), Tolerance.parse("0f")])
    assert [row["f1"] for row in result["scores"]] == [1.0, 1.0]
    assert result["scores"][0]["true"] == len(made.test.cuts)


def test_slow_factors_are_constant_within_a_scene() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        batch = draw_room(rng).batch(1, 300, rng)
        assert not batch.changes["object"].any()
        assert batch.changes["wall"].any()
    assert NEVER > 300
    assert draw_ball(rng) != draw_ball(rng)
    maze = single_colour_maze(2, 1, 300)
    assert not maze.batch(1, 300, rng).changes["colour"].any()
    assert maze.batch(1, 300, rng).changes["hallway"].any()


def test_the_test_part_uses_unseen_walks() -> None:
    maze = single_colour_maze(2, 1, 60)
    rng = np.random.default_rng(0)
    assert scene_datasets(maze, testing=False)["maze"](rng) == maze
    assert scene_datasets(maze, testing=True)["maze"](rng) == maze.unseen()


def test_bouncing_balls_replace_an_unavailable_maze(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, on_progress: object) -> None:
        raise VPRError("recording the maze needs miniworld")

    maze = single_colour_maze(2, 1, 60)
    assert available_kinds(maze) == KINDS
    monkeypatch.setattr(montage_scenes.MiniworldMaze, "prepare", fail)
    assert available_kinds(maze) == ("ball", "3dsd", "balls")


def test_the_penalty_gives_the_wanted_number_of_changes() -> None:
    rng = np.random.default_rng(0)
    true = [20, 50, 65, 100, 130]
    pieces = np.split(np.zeros((160, 6)), true)
    signal = np.concatenate([piece + rng.random(6) for piece in pieces])
    signal += 0.02 * rng.standard_normal(signal.shape)
    penalty = choose_penalty(signal, len(true))
    assert change_points(signal, penalty) == true
    assert len(change_points(signal, 2 * penalty)) < len(true)


def test_detectors_find_cuts_in_the_film(tmp_path: Path) -> None:
    """Each scene has another brightness, so that the cuts are easy to find."""
    lengths, bright = (20, 31, 25, 40), (30, 200, 90, 240)
    shades = np.repeat(np.array(bright, np.uint8), lengths)
    pictures = shades[:, None, None, None].repeat(64, 1).repeat(64, 2).repeat(3, 3)
    true = [Fraction(frame, RATE) for frame in (20, 51, 76)]
    parts = [Part(tmp_path / f"{name}.mp4", true) for name in ("training", "test")]
    for part in parts:
        write_mp4(part.path, pictures, 1000 // RATE)
    notes: list[str] = []
    found = run_detectors(Film(*parts, ["flat"]), lambda done, total, note: notes.append(note))
    assert notes == list(montage_detectors.DETECTORS.values())
    assert found == {"content": true, "adaptive": true, "ruptures": true}


def test_scores_within_each_tolerance() -> None:
    true = [Fraction(1), Fraction(2), Fraction(4)]
    found = [Fraction(1), Fraction(11, 5), Fraction(5), Fraction(9)]
    result = scores(found, true)
    assert [result[t]["recall"] for t in ("0 s", "0.2 s", "1 s")] == pytest.approx(
        [1 / 3, 2 / 3, 1]
    )
    assert [result[t]["precision"] for t in result] == pytest.approx([1 / 4, 1 / 2, 3 / 4])
    assert result["1 s"]["f1"] == pytest.approx(6 / 7)


def test_there_is_a_claim_for_every_level_and_detector() -> None:
    within = {"f1": 0.5, "precision": 0.5, "recall": 0.5}
    one = dict.fromkeys(("0 s", "0.2 s", "1 s"), within)
    names = ["level 2", "level 3", "content", "adaptive", "ruptures"]
    metrics = {"worlds": ["ball", "3dsd"], "scores": dict.fromkeys(names, one)}
    run = Result("video", 0, {"run": {"preset": "cpu/video", "model": {}}}, {}, 0.0, metrics)
    rows = claims({"video": [run]})
    assert [claim.paper for claim in rows] == ["none"] * 5
    assert all(claim.what.startswith("Montage of ball, 3dsd: ") for claim in rows)
    assert rows[0].setting.startswith("cpu/video: ")
    assert "penalty" in rows[-1].setting


@pytest.mark.parametrize("missing", ["av", "scenedetect", "ruptures"])
def test_a_missing_package_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montage_detectors, "find_spec", lambda name: None if name == missing else 1)
    with pytest.raises(VPRError, match=rf"needs {missing}: pip install 'vpr-torch\[compare\]'"):
        require_detectors()


def test_settings_survive_json() -> None:
    for scale in ("cpu", "tiny"):
        (config,) = variants(scale).values()
        again = from_dict(type(config), json.loads(json.dumps(to_dict(config))), "config")
        assert again == config
    assert variants("paper") == variants("cpu")


def test_a_run_is_measured_and_drawn(made: Film) -> None:
    """With a few training steps, on the film of the fixture."""
    config = variants("tiny")["video"]
    training = replace(config.run.training, steps=8)
    config = replace(config, run=replace(config.run, training=training))
    runs = made.test.path.parents[1]
    measured = EXPERIMENT.measure(config, 0, runs, _ignore)
    metrics = json.loads(json.dumps(measured.metrics, allow_nan=False))
    assert list(metrics["scores"]) == ["level 2", "level 3", "content", "adaptive", "ruptures"]
    assert list(metrics["random"]) == ["level 2", "level 3"]
    assert metrics["cuts"] == len(made.test.cuts)
    assert metrics["minute"]["times"]["true cuts"] == [float(time) for time in made.test.cuts]
    run = Result("video", 0, to_dict(config), {}, 1.0, metrics)
    figure = EXPERIMENT.draw({"video": [run, run._replace(seed=1)]})
    labels = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    assert "true cuts" in labels
    assert "PySceneDetect, content" in labels
