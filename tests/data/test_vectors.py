"""User feature vectors: reading, held-out part, invalid input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from vpr import VPRError
from vpr.cli import main
from vpr.config import ModelConfig, RunConfig, TrainingConfig
from vpr.data import Vectors, evaluation_rng, training_rng, unseen
from vpr.data.base import Prepared, Recorded
from vpr.training.session import Session


def counted(path: Path, rows: int, first: int = 0) -> str:
    """Two features per row: its number, and ten times as much."""
    number = np.arange(first, first + rows, dtype=np.float64)
    np.save(path, np.stack([number, 10 * number], 1))
    return str(path)


def numbers(data: Vectors, count: int = 300, length: int = 5) -> NDArray[np.int64]:
    """The rows that a batch shows: of data whose training part is 0 to 89."""
    shown = data.batch(count, length, np.random.default_rng(0)).frames[..., 0]
    return (shown * np.arange(90).std() + np.arange(90).mean()).round().astype(np.int64)


@pytest.fixture
def data(tmp_path: Path) -> Vectors:
    return Vectors(counted(tmp_path / "rows.npy", 100))


def test_windows_of_neighbours_without_labels(data: Vectors) -> None:
    batch = data.batch(4, 7, training_rng(0))
    assert batch.frames.shape == (4, 7, 2)
    assert batch.frames.dtype == np.float32
    assert batch.factors == batch.changes == {}
    found = numbers(data, 2000)
    assert (np.diff(found, axis=1) == 1).all()
    assert set(found[:, 0]) == set(range(86))


def test_the_last_tenth_is_held_out(data: Vectors) -> None:
    assert isinstance(data, Recorded)
    assert isinstance(data, Prepared)
    assert numbers(data).max() < 90 <= numbers(data.unseen()).min()
    assert unseen(data) == data.unseen() == data.unseen().unseen()


def test_of_many_files_whole_ones_are_held_out(tmp_path: Path) -> None:
    for n in range(10):
        counted(tmp_path / f"{n}.npy", 30, first=100 * n)
    data = Vectors(str(tmp_path), held_out=0.2)
    seen, kept = (
        set(part.batch(2000, 5, training_rng(0)).frames[..., 0].ravel().round(4).tolist())
        for part in (data, data.unseen())
    )
    assert not seen & kept
    assert (len(seen), len(kept)) == (240, 60)


def test_features_are_standardised_with_the_part_for_training(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal([3, -1e6, 5e8], [2, 1e-2, 40], size=(1000, 3))
    rows[900:] += 100
    np.save(tmp_path / "rows.npy", rows)
    data = Vectors(str(tmp_path / "rows.npy"))
    whole = data.batch(1, 900, training_rng(0)).frames[0].astype(np.float64)
    np.testing.assert_allclose(whole.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(whole.std(0), 1, rtol=1e-4)
    wanted = (rows - rows[:900].mean(0)) / rows[:900].std(0)
    np.testing.assert_allclose(whole, wanted[:900], rtol=1e-4, atol=1e-4)
    kept = data.unseen().batch(1, 100, evaluation_rng(0)).frames[0]
    np.testing.assert_allclose(kept, wanted[900:], rtol=1e-4, atol=1e-4)


def test_a_constant_feature_is_0_also_where_it_is_held_out(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    rows[:, 1] = 0.1  # not exact in binary: computed, its deviation is not 0
    rows[95:, 1] = 7
    np.save(tmp_path / "rows.npy", rows)
    data = Vectors(str(tmp_path / "rows.npy"))
    for part in (data, data.unseen()):
        frames = part.batch(20, 10, training_rng(0)).frames
        assert (frames[..., 1] == 0).all()
        assert (frames[..., [0, 2]] != 0).all()


def test_a_long_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 3))
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", rows)
    whole = Vectors(str(tmp_path / "a.npy")).batch(1, 90, training_rng(0)).frames
    monkeypatch.setattr("vpr.data.vectors.ROWS", 7)
    parts = Vectors(str(tmp_path / "b.npy")).batch(1, 90, training_rng(0)).frames
    np.testing.assert_allclose(parts, whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_real_numbers_in_any_order(tmp_path: Path, kind: type, order: str) -> None:
    rows = np.random.default_rng(0).integers(0, 2, size=(50, 4)).astype(kind, order=order)
    np.save(tmp_path / "rows.npy", rows)
    shown = Vectors(str(tmp_path / "rows.npy")).batch(1, 45, training_rng(0)).frames[0]
    assert np.array_equal(shown > 0, rows[:45] > 0)


def test_a_file_a_folder_a_glob(tmp_path: Path) -> None:
    for n in (2, 10):
        counted(tmp_path / f"part{n}.npy", 50, first=n)
    (tmp_path / "notes.txt").write_text("no vectors")
    folder, pattern = Vectors(str(tmp_path)), Vectors(str(tmp_path / "part*.npy"))
    both = [data.batch(9, 5, training_rng(0)).frames for data in (folder, pattern)]
    assert np.array_equal(*both)
    single = Vectors(str(tmp_path / "part2.npy"))
    assert not np.array_equal(both[0], single.batch(9, 5, training_rng(0)).frames)
    assert folder.frame == pattern.frame == single.frame == (2,)


def test_the_frame_is_read_from_the_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, np.full((9, 4), np.nan))
    assert Vectors(str(path)).frame == (4,)
    assert Vectors().frame == (1,)


def test_a_relative_path_is_that_of_the_present_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, name in enumerate(("a", "b")):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "rows.npy", np.random.default_rng(n).normal(size=(50, n + 1)))
        monkeypatch.chdir(tmp_path / name)
        assert Vectors("rows.npy").batch(1, 3, training_rng(0)).frames.shape == (1, 3, n + 1)


class TestMistakes:
    def says(self, path: Path | str, words: str) -> None:
        with pytest.raises(VPRError, match=words) as error:
            Vectors(str(path)).batch(1, 3, training_rng(0))
        assert len(str(error.value).splitlines()) == 1

    def saved(self, path: Path, rows: object) -> Path:
        np.save(path, np.asarray(rows))
        return path

    def test_no_path(self) -> None:
        self.says("", "no vectors: give path")

    def test_video(self, tmp_path: Path) -> None:
        (tmp_path / "clip.mp4").write_bytes(b"a video")
        self.says(tmp_path / "clip.mp4", r"clip\.mp4 is a video, not vectors: to train on video")

    def test_missing(self, tmp_path: Path) -> None:
        self.says(tmp_path / "gone.npy", r"gone\.npy does not exist")
        self.says(tmp_path, "has no .npy files")
        self.says(tmp_path / "*.npy", "has no .npy files")

    def test_no_array(self, tmp_path: Path) -> None:
        (tmp_path / "text.npy").write_text("1, 2, 3")
        self.says(tmp_path / "text.npy", r"text\.npy cannot be read as a \.npy file")
        (tmp_path / "empty.npy").touch()
        self.says(tmp_path / "empty.npy", r"empty\.npy cannot be read")
        whole = self.saved(tmp_path / "cut.npy", np.zeros((50, 3)))
        whole.write_bytes(whole.read_bytes()[:-100])
        self.says(whole, r"cut\.npy cannot be read")
        np.savez(tmp_path / "two.npz", np.zeros((9, 2)))
        self.says(tmp_path / "two.npz", "has several arrays")

    @pytest.mark.parametrize("shape", [(), (20,), (20, 3, 2), (0, 3), (20, 0)])
    def test_wrong_dimensions(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        path = self.saved(tmp_path / "rows.npy", np.zeros(shape))
        self.says(path, r"has shape \(.*\): vectors over time need shape \(T, F\)")

    @pytest.mark.parametrize("kind", [complex, "U3"])
    def test_no_real_numbers(self, tmp_path: Path, kind: object) -> None:
        path = self.saved(tmp_path / "rows.npy", np.zeros((20, 3)).astype(kind))  # type: ignore[call-overload]
        self.says(path, "vectors need real numbers")

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("row", [3, 19])  # the last one is held out
    def test_values_that_are_not_finite(self, tmp_path: Path, value: float, row: int) -> None:
        rows = np.zeros((20, 3))
        rows[row, 1] = value
        path = self.saved(tmp_path / "rows.npy", rows)
        self.says(path, f"has NaN or infinite values in row {row}")

    def test_too_short(self, data: Vectors) -> None:
        with pytest.raises(VPRError, match=r"91 frames .* this part of the data has 90: take"):
            data.batch(1, 91, training_rng(0))
        with pytest.raises(VPRError, match=r"11 frames .* has 10: take shorter sequences"):
            data.unseen().batch(1, 11, training_rng(0))

    def test_files_of_different_vectors(self, tmp_path: Path) -> None:
        self.saved(tmp_path / "a.npy", np.zeros((20, 3)))
        self.saved(tmp_path / "b.npy", np.zeros((20, 4)))
        self.says(tmp_path, r"b\.npy has 4 features, .*a\.npy has 3")

    @pytest.mark.parametrize("share", [0.0, 0.9])
    def test_impossible_shares(self, share: float) -> None:
        with pytest.raises(VPRError, match=r"held_out share from 0\.01 to 0\.5"):
            Vectors("a.npy", held_out=share)


def test_a_decoder_starts_at_the_mean_of_each_feature(tmp_path: Path) -> None:
    """In the vectors that the session looks at first, whose means are only nearly 0."""
    rows = np.random.default_rng(0).normal(size=(400, 3)).cumsum(0)
    np.save(tmp_path / "rows.npy", rows)
    data = Vectors(str(tmp_path / "rows.npy"))
    config = RunConfig(
        model=ModelConfig(2, 3, 12, frame=(3,), likelihood="gaussian"),
        data=data,
        training=TrainingConfig(batch_size=2, length=8, frame_nats=10.0),
    )
    session = Session(config)
    sampled = data.batch(32, 8, training_rng(0)).frames.reshape(-1, 3)
    with torch.no_grad():
        given = session.model.reconstruct(torch.zeros(1, 1, 12))[0, 0]
    np.testing.assert_allclose(given.numpy(), sampled.mean(0), atol=1e-5)
    worth = ((sampled - sampled.mean(0)) ** 2).sum(1).mean() / 2
    assert session.reconstruction_weight == pytest.approx(10.0 / worth, rel=1e-4)
    assert replace(config, data=data.unseen()).data.frame == (3,)


TINY = [
    *("--model.width", "12", "--model.state-size", "3", "--training.batch-size", "3"),
    *("--training.length", "4", "--training.steps", "3", "--json"),
]


def test_train_takes_the_number_of_features_from_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("features.npy", np.random.default_rng(0).normal(size=(200, 7)).cumsum(0))
    words = ["train", "cpu/vectors", "--data.path", "features.npy", "--out", "run", *TINY]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["finished"]
    assert result["held_out"].keys() == {"elbo", "reconstruction", "kl"}
    config = json.loads(Path("run/config.json").read_text())
    assert config["model"]["frame"] == [7]
    assert config["data"]["path"] == "features.npy"
    assert main(words) == 0  # the same command resumes, here with nothing to do
    evaluation = ["evaluate", "run", "--sequences", "4", "--length", "6", "--json"]
    assert main(evaluation) == 2  # a configuration chooses no files
    err = capsys.readouterr().err
    assert "give vectors with --path features.npy: the path in the configuration of a model" in err
    assert main([*evaluation, "--path", "features.npy"]) == 0
    capsys.readouterr()
    assert main([*words, "--model.frame", "5"]) == 2
    assert "model.frame must be the data's: set it to 7" in capsys.readouterr().err
    assert main(["train", "cpu/vectors", "--out", "other", *TINY]) == 2
    assert "give vectors with" in capsys.readouterr().err
    assert not Path("other").exists()
