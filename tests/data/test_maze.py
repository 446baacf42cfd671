"""Miniworld Maze: recording, windows, held-out walks and rendering."""

import re
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vpr import VPRError
from vpr.cli import main
from vpr.cli.model_and_data import prepare
from vpr.data import DATASETS, Batch, MiniworldMaze, MovingBall, maze, unseen
from vpr.data.base import max_length
from vpr.data.maze import open_renderer
from vpr.data.maze_walk import FRAME, WALLS

SMALL = MiniworldMaze(walks=4, unseen_walks=2, frames=90)


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "vpr"


def batch(data: MiniworldMaze = SMALL, count: int = 40, length: int = 30, seed: int = 0) -> Batch:
    return data.batch(count, length, np.random.default_rng(seed))


def seen_from(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """The position that is encoded in a picture of the tests' renderer."""
    written = (frames[:, :, 0, 0, :12] * 255).round().astype(np.uint8)
    return np.ascontiguousarray(written).view(np.float32)


def test_frames_belong_to_their_labels() -> None:
    made = batch()
    assert np.array_equal(seen_from(made.frames), made.factors["position"])
    assert (
        tuple(made.factors) == tuple(made.changes) == ("position", "hallway", "colour", "turning")
    )


def test_factors_change_one_less_often_than_the_other() -> None:
    made = batch(replace(SMALL, frames=400), count=60, length=50)
    position, hallway, colour, _ = (marks[:, 1:] for marks in made.changes.values())
    assert position.all()
    assert (colour <= hallway).all()  # walls change their colour only from hallway to hallway
    assert 0.08 < hallway.mean() < 0.13
    assert 0.03 < colour.mean() < 0.055
    assert set(np.unique(np.diff(made.factors["colour"], axis=1) % 6)) == {0, 1}


def test_in_the_papers_maze_every_hallway_has_its_colour() -> None:
    made = batch(replace(SMALL, least_stay=1, most_stay=1))
    assert np.array_equal(made.changes["hallway"], made.changes["colour"])
    assert made.changes["hallway"].any()


def test_evaluation_walks_are_not_used_for_training() -> None:
    """Every frame has its own position, so that the parts can be told apart by those."""
    assert not DATASETS["maze"].held_out  # type: ignore[attr-defined]
    parts = []
    for data, walks in ((SMALL, 4), (SMALL.unseen(), 2)):
        positions = batch(data, count=400).factors["position"]
        parts.append({tuple(place) for place in positions.reshape(-1, 3).tolist()})
        assert len(parts[-1]) == walks * 90  # all of it is used
    assert not parts[0] & parts[1]
    assert SMALL.unseen().unseen() == unseen(SMALL) == SMALL.unseen()
    assert unseen(MovingBall()) == MovingBall()


def test_parts_share_one_recording_and_other_mazes_have_their_own(cache_of_its_own: Path) -> None:
    batch(SMALL)
    batch(SMALL.unseen())
    assert len(list(cache_of_its_own.iterdir())) == 1
    batch(replace(SMALL, fastest=1.0))
    names = [path.name for path in cache_of_its_own.iterdir()]
    assert len(names) == 2
    assert all(re.fullmatch(r"maze-v1-[0-9a-f]{8}\.npy", name) for name in names)


def test_every_field_has_its_part_in_the_name() -> None:
    other = {"int": lambda value: value + 1, "float": lambda value: value * 1.01}
    changed = [f for f in fields(SMALL) if f.name not in ("held_out", "colours", "least_stay")]
    mazes = [replace(SMALL, **{f.name: other[f.type](getattr(SMALL, f.name))}) for f in changed]
    mazes += [SMALL, replace(SMALL, colours=3), replace(SMALL, least_stay=1)]
    assert len({each._path() for each in mazes}) == len(mazes) == len(fields(SMALL))


def test_recorded_once_and_with_a_bar(
    cache_of_its_own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(SMALL)
    assert "540/540" in capsys.readouterr().err
    monkeypatch.setattr(maze, "open_renderer", lambda: pytest.fail("there is a recording"))
    prepare(SMALL)
    assert "540" not in capsys.readouterr().err
    assert batch().frames.shape == (40, 30, *FRAME)


def recorded_twice(cache: Path) -> Path:
    """The recording, which is the same, byte for byte, when it is made again."""
    SMALL.prepare()
    (path,) = cache.iterdir()
    first = path.read_bytes()
    path.unlink()
    SMALL.prepare()
    assert path.read_bytes() == first
    return path


def test_the_same_walks_give_the_same_file(cache_of_its_own: Path) -> None:
    path = recorded_twice(cache_of_its_own)
    walks = np.load(path)["position"]
    assert len(np.unique(walks[:, 50, 0])) == 6  # each walk is another


def test_a_damaged_recording_is_written_again(cache_of_its_own: Path) -> None:
    SMALL.prepare()
    (path,) = cache_of_its_own.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    SMALL.prepare()
    assert path.read_bytes() == whole


def test_data_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATASETS, "maze", SMALL)
    words = ["data", "maze", "--out", str(tmp_path), "--sequences", "2", "--length", "3"]
    assert main(words) == 0
    assert (tmp_path / "maze.png").is_file()
    assert (tmp_path / "maze.gif").is_file()


def test_the_longest_sequence_is_a_walk() -> None:
    assert max_length(SMALL) == max_length(unseen(SMALL)) == SMALL.frames


def test_longer_than_a_walk() -> None:
    with pytest.raises(VPRError, match="takes of 90 frames, 91 are too many"):
        batch(length=91)


@pytest.mark.parametrize(
    "field",
    [
        {"shortest": 3.0},
        {"longest": 4.0},
        {"colours": 1},
        {"colours": 7},
        {"least_stay": 0},
        {"most_stay": 1},
        {"slowest": 0.0},
        {"slowest": 1.0},
        {"fastest": 3.0},
        {"heading_noise": -1.0},
        {"heading_noise": 16.0},
        {"walks": 0},
        {"unseen_walks": 0},
        {"frames": 1},
    ],
)
def test_invalid_settings(field: dict[str, float]) -> None:
    with pytest.raises(VPRError, match="maze needs"):
        MiniworldMaze(**field)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["miniworld", "pyglet"])
def test_without_the_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maze, "open_renderer", open_renderer)
    monkeypatch.delitem(sys.modules, "vpr.data.maze_env", raising=False)
    if missing == "miniworld":  # then only that is missing
        monkeypatch.setitem(sys.modules, "pyglet", FakePyglet())
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(VPRError, match=r"needs miniworld: pip install 'vpr-torch\[maze\]'$"):
        SMALL.prepare()


class FakePyglet:
    """The part of pyglet that is used before rendering."""

    def __init__(self) -> None:
        self.options: dict[str, bool] = {}


class NoLibrary:
    """A renderer without a system library, with the error message of pyglet."""

    def __init__(self) -> None:
        raise ImportError('Library "EGL" not found.\nmore')


def test_without_a_system_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maze, "open_renderer", open_renderer)
    pyglet, render = FakePyglet(), type("Module", (), {"MazeEnv": NoLibrary})
    monkeypatch.setitem(sys.modules, "pyglet", pyglet)
    monkeypatch.setitem(sys.modules, "vpr.data.maze_env", render)
    words = (
        r'^miniworld cannot draw here \(Library "EGL" not found\.\): apt install libegl1 libgl1 '
    )
    with pytest.raises(VPRError, match=words + r"libglu1-mesa libfreetype6$"):
        batch()
    assert pyglet.options == ({"headless": True} if sys.platform == "linux" else {})


def test_reading_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    SMALL.prepare()
    for module in ("miniworld", "pyglet"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(maze, "open_renderer", open_renderer)
    assert batch().frames.shape == (40, 30, *FRAME)


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Miniworld's renderer, where there is one."""
    try:
        with open_renderer():
            pass
    except VPRError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(maze, "open_renderer", open_renderer)


@pytest.mark.usefixtures("real")
def test_walls_have_the_colour_of_their_label(capsys: pytest.CaptureFixture[str]) -> None:
    made = batch(count=20, length=80)
    straight = ~made.factors["turning"]
    # At the height of the camera only walls are visible, including those of the next hallway.
    row = made.frames[:, :, :, 32][straight]  # (frames, 3, 64)
    hue = np.array(WALLS, dtype=np.float32)[made.factors["colour"][straight]]
    hue /= hue.max(1, keepdims=True)
    close = np.abs(row / row.max(1, keepdims=True) - hue[..., None]).max(1) < 0.03
    assert close.mean() > 0.85
    assert (close.mean(1) > 0.5).mean() > 0.97
    assert capsys.readouterr().out == ""  # which belongs to results


@pytest.mark.usefixtures("real")
def test_the_same_walk_gives_the_same_pixels(cache_of_its_own: Path) -> None:
    recorded_twice(cache_of_its_own)


@pytest.mark.usefixtures("real")
def test_a_part_of_a_maze_is_rendered_like_the_whole(
    cache_of_its_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hallways that are left out of a world are not visible."""
    long = replace(SMALL, walks=1, unseen_walks=1, frames=300)
    long.prepare()
    (path,) = cache_of_its_own.iterdir()
    legs = np.load(path)["frame"]
    path.unlink()
    monkeypatch.setattr(maze, "HALLWAYS_PER_WORLD", 1000)
    long.prepare()
    assert np.array_equal(np.load(path)["frame"], legs)
