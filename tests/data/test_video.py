"""Footage as a dataset: decoded once, split by time, correct windows."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.test_cli import vpr
from tests.video.encode import encode
from vpr import VPRError
from vpr.data import MovingBall, Video, clips, evaluation_rng, training_rng, unseen
from vpr.data.base import Prepared, Recorded, max_length
from vpr.data.clips import Clip
from vpr.data.windows import held_out_spans, training_spans

SIZE = (16, 16)


def counted(path: Path, frames: int, first: int = 0) -> Path:
    """Footage whose frames show their number, up to 255."""
    numbers = np.arange(first, first + frames, dtype=np.uint8)
    np.save(path, np.tile(numbers[:, None, None], (1, *SIZE)))
    return path


def numbers(data: Video, count: int = 200, length: int = 5) -> np.ndarray:
    """Which frames (count, length) the windows hold."""
    frames = data.batch(count, length, np.random.default_rng(0)).frames
    assert (frames == frames[..., :1, :1, :1]).all()
    return (frames[:, :, 0, 0, 0] * 255).round().astype(int)


@pytest.fixture
def data(tmp_path: Path) -> Video:
    return Video(str(counted(tmp_path / "clip.npy", 100)), SIZE, cache=str(tmp_path / "cache"))


def test_it_is_recorded_and_has_no_labels(data: Video) -> None:
    assert isinstance(data, Prepared)
    assert isinstance(data, Recorded)
    batch = data.batch(2, 4, np.random.default_rng(0))
    assert batch.frames.shape == (2, 4, 3, 16, 16)
    assert (batch.factors, batch.changes) == ({}, {})
    assert replace(data, grey=True).batch(2, 4, np.random.default_rng(0)).frames.shape[2] == 1


def test_windows_are_pieces_of_the_footage(data: Video) -> None:
    found = numbers(data, 2000)
    assert (np.diff(found, axis=1) == 1).all()
    assert set(found[:, 0]) == set(range(86))  # anywhere, to the last that ends before frame 90


def test_the_last_tenth_is_held_out(data: Video) -> None:
    assert numbers(data).max() < 90 <= numbers(data.unseen()).min()
    assert numbers(replace(data, held_out=0.5).unseen()).min() == 50
    assert unseen(data) == data.unseen() == data.unseen().unseen()


def test_a_stride_for_each_sequence(data: Video) -> None:
    steps = np.diff(numbers(replace(data, strides=(2, 7))), axis=1)
    assert (steps == steps[:, :1]).all()
    assert set(steps[:, 0]) == {2, 7}
    assert set(np.diff(numbers(replace(data, strides=(2, 50))), axis=1)[:, 0]) == {
        2
    }  # as far as fits


def test_footage_that_is_too_short(data: Video) -> None:
    with pytest.raises(VPRError, match=r"31 frames at stride 3 need 91 in a row, .* has 90: take"):
        numbers(replace(data, strides=(3,)), 1, 31)
    with pytest.raises(VPRError, match="11 frames at stride 1 need 11 in a row"):
        numbers(data.unseen(), 1, 11)
    assert numbers(data.unseen(), 1, 10).shape == (1, 10)


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=60),
    share=st.floats(0.01, 0.5),
)
def test_parts_are_disjoint_and_complete(lengths: list[int], share: float) -> None:
    clips = [Clip(Path(str(n)), length) for n, length in enumerate(lengths)]
    parts = [training_spans(clips, share), held_out_spans(clips, share)]
    frames = [
        {(span.clip.path, t) for span in part for t in range(span.first, span.last)}
        for part in parts
    ]
    assert not frames[0] & frames[1]
    assert len(frames[0]) + len(frames[1]) == sum(lengths)
    if len(clips) * share >= 2:  # many: whole clips, about as many as the share says
        assert abs(len(parts[1]) - len(clips) * share) <= 1


def test_windows_stay_within_their_piece_and_longer_ones_have_more(tmp_path: Path) -> None:
    for first, frames in ((0, 20), (40, 8), (60, 100), (170, 3)):
        counted(tmp_path / f"{first}.npy", frames, first)
    path = os.pathsep.join([str(tmp_path / "0.npy"), str(tmp_path / "[4-6]0.npy"), str(tmp_path)])
    found = numbers(Video(path, SIZE, cache=str(tmp_path / "cache")), 2000)
    assert (np.diff(found, axis=1) == 1).all()
    first = found[:, 0]
    assert set(first) == {*range(14), *range(40, 43), *range(60, 146)}
    assert 0.75 < (first >= 60).mean() < 0.9  # 86 windows of 103


def test_decoded_once_and_again_when_it_changed(
    data: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress: list[tuple[int, int]] = []
    data.prepare(lambda *now: progress.append(now))
    assert progress[-1] == (100, 100)
    progress.clear()
    data.prepare(lambda *now: progress.append(now))
    assert not progress
    counted(Path(data.path), 50, first=100)
    data.prepare(lambda *now: progress.append(now))
    assert progress[-1] == (50, 50)
    assert numbers(data).min() == 100


def test_a_damaged_cache_is_written_again(data: Video) -> None:
    data.prepare()
    (kept,) = Path(data.cache).iterdir()
    clips.memory_mapped.cache_clear()  # as in another process
    kept.write_bytes(kept.read_bytes()[:-1])
    data.prepare()
    assert numbers(data).max() > 80


def test_what_was_decoded_before_a_stop_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        counted(tmp_path / f"{n}.npy", 30)
    data = Video(str(tmp_path), SIZE, cache=str(tmp_path / ".cache"))

    def stop(done: int, total: int) -> None:
        if done == 75:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.prepare(stop)
    assert len(list((tmp_path / ".cache").iterdir())) == 2
    progress: list[tuple[int, int]] = []
    data.prepare(lambda *now: progress.append(now))
    assert progress[-1] == (30, 30)


def test_damaged_pieces_are_reported_and_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counted(tmp_path / "good.npy", 30)
    (tmp_path / "broken.mp4").write_text("no video")
    np.save(tmp_path / "nan.npy", np.full((9, 4, 4), np.nan))
    path = os.pathsep.join([str(tmp_path), str(tmp_path / "gone.mp4")])
    with caplog.at_level(logging.WARNING, "vpr"):
        found = numbers(Video(path, SIZE, cache=str(tmp_path / ".cache")))
    assert found.max() < 30
    said = [record.getMessage() for record in caplog.records]
    assert [line.startswith("left out: ") for line in said] == [True] * 3
    assert all(name in "".join(said) for name in ("gone.mp4", "broken.mp4", "nan.npy"))


def test_a_full_disk_is_not_the_footage_s_fault(
    data: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise VPRError("cannot write: no room left on the disk")

    monkeypatch.setattr(clips, "write_parts", full)
    with pytest.raises(VPRError, match="no room left"):
        data.prepare()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", 'no footage: give path, such as path="footage/'),
        ("{tmp}/gone.mp4", "{tmp}/gone.mp4 does not exist"),
        ("{tmp}/*.mp4", "matches no footage"),
        ("{tmp}", "has no footage"),
    ],
)
def test_no_usable_footage(tmp_path: Path, path: str, says: str) -> None:
    with pytest.raises(VPRError) as caught:
        Video(path.format(tmp=tmp_path)).prepare()
    assert says.format(tmp=tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        {"size": (16,)},
        {"size": (0, 16)},
        {"strides": ()},
        {"strides": (0,)},
        {"held_out": 0.0},
        {"held_out": 0.9},
        {"fit": "shrink"},
    ],
)
def test_invalid_settings(fields: dict[str, object]) -> None:
    with pytest.raises(VPRError):
        Video("a.mp4", **fields)  # type: ignore[arg-type]


def test_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    for n in range(300):
        counted(tmp_path / f"{n}.npy", 6, first=n % 200)
    data = Video(str(tmp_path), SIZE, cache=str(tmp_path / ".cache"))
    assert len(numbers(data, 400, 5)) == 400
    assert len(os.listdir("/proc/self/fd")) < 300


TINY = [
    *("--data.size", "16,16", "--model.frame", "3,16,16", "--model.width", "12"),
    *("--model.state-size", "3", "--model.channels", "4", "--training.batch-size", "3"),
    *("--training.length", "4", "--training.steps", "3", "--data.strides", "1,2"),
]


def test_from_files_to_a_model_and_its_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Train, evaluate, demo, report and data, on films that this test encodes."""
    monkeypatch.chdir(tmp_path)
    Path("my films").mkdir()
    for name in ("a.mp4", "б.mkv"):
        encode(Path("my films") / name, 120)
    words = ["train", "cpu/video", "--data.path", "my films/*.m*", "--out", "run", *TINY]
    code, out, err = vpr(capsys, *words, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["finished"]
    assert result["held_out"]["elbo"] < 0
    assert "Held-out ELBO" in err
    footage = ["--path", "my films/*.m*"]
    words = ["evaluate", "run", *footage, "--sequences", "4", "--length", "6"]
    code, out, _ = vpr(capsys, *words, "--json")
    assert set(json.loads(out)["levels"]["2"]) == {
        "update_rate",
        "expected_share",
        "unexpected_share",
        "both_share",
    }
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert "ELBO" in out
    assert "precision" not in out  # of what, nobody knows
    code, out, _ = vpr(capsys, "demo", "run", *footage, "--length", "10", "--out", "demo.html")
    assert code == 0
    assert "Events of level 2" in out
    page = Path("demo.html").read_text(encoding="utf-8")
    assert "level 2 events" in page
    assert not any(word in page for word in ("truly changes", "change missed", ">recall<"))
    code, out, _ = vpr(capsys, "demo", "run", *footage, "--length", "10", "--json")
    assert not {"f1", "found", "factor"} & set(json.loads(out)["levels"][0])
    assert vpr(capsys, "report", "run", *footage, "--sequences", "4", "--length", "8")[0] == 0
    code, out, _ = vpr(capsys, "data", "video", "--path", "my films", "--size", "32,48")
    assert code == 0
    assert "frames (3, 32, 48), without labels" in out
    assert Path("video.png").exists()


def test_too_little_footage_to_hold_any_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = counted(tmp_path / "short.npy", 12)
    words = ["train", "cpu/video", "--data.path", path, "--out", tmp_path / "run", *TINY]
    code, _, err = vpr(capsys, *words)
    assert code == 0
    assert "No held-out ELBO: 4 frames at stride 1 need 4 in a row" in err


def test_a_short_clip_has_short_sequences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds, of which one is held out: fewer frames than the usual 50."""
    monkeypatch.chdir(tmp_path)
    path = counted(tmp_path / "ten seconds.npy", 250)
    words = ["train", "cpu/video", "--data.path", path, "--out", "run", *TINY]
    code, _, err = vpr(capsys, *words)
    assert code == 0
    assert f"Next: vpr segment '{path}' --model run" in err
    for command in ("evaluate", "report", "demo"):
        code, out, err = vpr(capsys, command, "run", "--path", path, "--sequences", "2", "--json")
        assert code == 0, err
        assert "Sequences have 25 frames instead of 50" in err
        assert json.loads(out).get("length", 25) == 25
    assert vpr(capsys, "evaluate", "run", "--path", path, "--length", "50")[0] == 2  # as asked
    assert vpr(capsys, "data", "video", "--path", path, "--held-out", "0.5")[0] == 0


def test_the_longest_sequence(data: Video) -> None:
    whole, kept = max_length(data), max_length(data.unseen())
    assert whole is not None
    assert kept is not None
    data.batch(1, whole, training_rng(0))
    data.unseen().batch(1, kept, evaluation_rng(0))
    with pytest.raises(VPRError, match="in a row"):
        data.batch(1, whole + 1, training_rng(0))
    assert max_length(MovingBall()) is None


def test_evaluation_and_training_read_the_same_cache(data: Video) -> None:
    data.prepare()
    count = len(list(Path(data.cache).iterdir()))
    data.unseen().batch(1, 3, evaluation_rng(0))
    assert len(list(Path(data.cache).iterdir())) == count == 1
