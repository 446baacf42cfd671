"""Films of rollouts and samples: contents, labels, pictures and files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.conftest import short, tiny_run
from vpr import VPR, VPRError, rollout, sample
from vpr.data import Batch, Dataset, MiniworldMaze, MovingBall, Synthetic, evaluation_rng, unseen
from vpr.generation import film as film_module
from vpr.generation.film import LABEL_SIZE, Film, Strip, animation, film_files, sheet, write_film
from vpr.generation.rollout_film import rollout_film, true_events
from vpr.generation.sample_film import sample_film

BALL = MovingBall(size=16)


@pytest.fixture(scope="module")
def model() -> VPR:
    torch.manual_seed(0)
    return VPR(tiny_run(1, levels=3).model)


def labels(film: Film) -> list[list[str]]:
    return [[strip.label for strip in group] for group in film.groups]


class TestRollouts:
    def test_true_frames_are_at_the_next_events_of_each_level(self, model: VPR) -> None:
        film = rollout_film(model, BALL, [1, 2], steps=5, frames=6, seed=3)
        assert labels(film) == [["GT", "L1"], ["GT", "L2"]]
        first, second = film.facts["levels"]
        assert (first["factor"], first["events"]) == ("position", [6, 7, 8, 9, 10])
        assert second["factor"] == "colour"
        # The sequence is as long as it takes to have five changes.
        batch = longer(BALL, 6, 5, second["events"])
        changed = np.flatnonzero(batch.changes["colour"][0, 6:]) + 6
        assert second["events"] == changed[:5].tolist()
        for group, level in zip(film.groups, film.facts["levels"], strict=True):
            wanted = batch.frames[0, [5, *level["events"]]]
            np.testing.assert_array_equal(group[0].frames, wanted)

    def test_rollouts_start_after_the_observed_frames(self, model: VPR) -> None:
        film = rollout_film(
            model, BALL, [2], steps=4, frames=6, seed=3, samples=True, below="samples"
        )
        batch = longer(BALL, 6, 4, film.facts["levels"][0]["events"])
        with torch.no_grad():
            trace = model.observe(torch.from_numpy(batch.frames[:, :6]))
            start = model.reconstruct(trace.c0[0, -1:])
        draws = torch.Generator().manual_seed(3)
        jumps = rollout(model, trace.state, 2, 4, samples=True, generator=draws, below="samples")
        wanted = torch.cat([start, jumps.frames[0]]).numpy()
        np.testing.assert_array_equal(film.groups[0][1].frames, wanted)

    def test_level_1_and_unlabelled_data_use_all_frames(self) -> None:
        batch = Synthetic().batch(1, 20, evaluation_rng(0))
        assert true_events(batch, 1, 4, 3) == [4, 5, 6]
        changes = np.flatnonzero(batch.changes["value"][0])
        assert true_events(batch, 2, 1, 2) == changes[:2].tolist()
        assert true_events(Batch(batch.frames, {}, {}), 2, 4, 3) == [4, 5, 6]

    def test_a_constant_factor_has_no_true_events(self, model: VPR) -> None:
        still = MovingBall(size=16, speed=1e-9, change_probability=0)
        film = rollout_film(model, still, [2], steps=3, frames=4)
        assert film.facts["levels"][0]["events"] == []
        assert [len(strip.frames) for strip in film.groups[0]] == [1, 4]

    def test_a_recording_may_end_before_the_last_event(self) -> None:
        maze = short(MiniworldMaze())
        torch.manual_seed(0)
        config = tiny_run(1, levels=3).model
        model = VPR(type(config)(**{**vars(config), "frame": maze.frame}))
        film = rollout_film(model, maze, [3], steps=40, frames=4)
        assert len(film.facts["levels"][0]["events"]) < 40
        assert len(film.groups[0][1].frames) == 41


def longer(data: Dataset, frames: int, steps: int, events: list[int]) -> Batch:
    """The sequence that was long enough to hold the events: a doubling of the shortest."""
    shortest = frames + steps
    length = shortest * 2 ** max(math.ceil(math.log2((events[-1] + 1) / shortest)), 0)
    return unseen(data).batch(1, length, evaluation_rng(3))


class TestSamples:
    @pytest.mark.parametrize("empty", [True, False])
    def test_samples_are_below_the_present_and_other_sequences(
        self, model: VPR, empty: bool
    ) -> None:
        film = sample_film(model, BALL, [1, 3], n=4, frames=6, seed=3, empty=empty)
        assert labels(film) == [["GT", "L1", "L3"]]
        batch = BALL.batch(5, 6, evaluation_rng(3))
        np.testing.assert_array_equal(film.groups[0][0].frames, batch.frames[:, -1])
        with torch.no_grad():
            trace = model.observe(torch.from_numpy(batch.frames[:1]))
            start = model.reconstruct(trace.c0[0, -1:])
        for strip, level in zip(film.groups[0][1:], (1, 3), strict=True):
            draws = sample(
                model, trace.state, level, 4, torch.Generator().manual_seed(3), empty=empty
            )
            wanted = torch.cat([start, draws.frames[0]]).numpy()
            np.testing.assert_array_equal(strip.frames, wanted)


def plain(value: float, count: int) -> np.ndarray:
    return np.full((count, 3, 64, 64), value, dtype=np.float32)


FILM = Film(
    (
        (Strip("GT", plain(0.2, 4)), Strip("L1", plain(0.4, 4))),
        (Strip("GT", plain(0.6, 2)), Strip("L2", plain(0.8, 4))),
    ),
    {},
)


class TestPictures:
    def test_a_sheet_has_a_row_for_each_strip(self) -> None:
        """Counted by the frames' colours; the third strip has only two frames."""
        names, pixels = np.split(sheet(FILM), [LABEL_SIZE], 1)
        tops = []
        for value, count in ((51, 4), (102, 4), (153, 2), (204, 4)):
            where = (pixels == value).all(-1)
            assert where.sum() == count * 64 * 64
            rows = np.flatnonzero(where.any(1))
            assert len(rows) == 64
            tops.append(rows[0])
            assert (names[rows] < 100).any()
        assert tops == sorted(tops)

    def test_an_animation_has_a_panel_per_strip(self) -> None:
        pictures = animation(FILM)
        assert len(pictures) == 4
        assert all(side % 2 == 0 for picture in pictures for side in picture.shape[:2])
        for value, times in ((51, [1] * 4), (153, [1, 1, 0, 0]), (204, [1] * 4)):
            shown = [(picture[LABEL_SIZE:] == value).all(-1).sum() for picture in pictures]
            assert shown == [128 * 128 * there for there in times]
        assert all((picture[:LABEL_SIZE] < 100).any() for picture in pictures)

    @pytest.mark.parametrize("frame", [(1, 16, 16), (3, 128, 128), (5,)])
    def test_frames_of_any_kind(self, frame: tuple[int, ...]) -> None:
        strip = Strip("L1", np.random.default_rng(0).random((3, *frame), dtype=np.float32))
        pixels = sheet(Film(((strip,),), {}))
        assert pixels.shape[0] >= 45
        assert pixels.dtype == np.uint8


# No two pictures are alike: a GIF would keep only one of them.
GREY = Film(((Strip("L1", plain(1, 4) * np.linspace(0, 1, 4).reshape(4, 1, 1, 1)),),), {})


class TestFiles:
    def test_sheet_and_gif(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(film_module, "can_write_mp4", lambda: False)
        files = film_files(tmp_path / "new", "film")
        progress: list[tuple[int, str]] = []
        write_film(GREY, files, lambda done, name: progress.append((done, name)))
        written = {path.name for path in (tmp_path / "new").iterdir()}
        assert written == {"film.gif", "film.png"}
        assert progress == [(0, "film.png"), (1, "film.gif"), (2, "done")]
        np.testing.assert_array_equal(np.asarray(Image.open(files["sheet"])), sheet(GREY))
        with Image.open(files["gif"]) as gif:
            assert gif.n_frames == 4
            assert gif.info["duration"] == 300

    def test_mp4(self, tmp_path: Path) -> None:
        av = pytest.importorskip("av")
        files = film_files(tmp_path, "film")
        write_film(GREY, files, lambda done, name: None)
        with av.open(files["mp4"]) as video:
            found = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
        wanted = animation(GREY)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert np.abs(a.astype(int) - b).mean() < 3


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"levels": [4]}, "level must be 1 to 3, got 4"),
        ({"levels": [1], "steps": 0}, "steps must be 1 or more, got 0"),
        ({"levels": [1], "frames": 1}, "2 or more frames"),
        ({"levels": [1], "data": Synthetic()}, "the model needs frames of"),
    ],
)
def test_invalid_arguments(model: VPR, asked: dict, says: str) -> None:
    with pytest.raises(VPRError, match=says):
        rollout_film(model, **{"data": BALL} | asked)
    if "steps" in asked:
        asked = {"levels": [1], "n": 0}
        says = "n must be 1 or more, got 0"
    with pytest.raises(VPRError, match=says):
        sample_film(model, **{"data": BALL} | asked)
