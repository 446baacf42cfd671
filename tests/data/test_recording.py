"""Recordings: complete or absent, with correct windows."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vpr import VPRError
from vpr.data.recording import (
    Layout,
    Records,
    random_windows,
    read_recording,
    record_type,
    write_recording,
)

KIND = record_type((1, 2, 2), {"place": np.dtype((np.float32, (2,))), "dark": np.bool_})
LAYOUT = Layout(KIND, (3, 20))


def takes(count: int = 3) -> Iterator[Records]:
    for take in range(count):
        records = np.zeros(20, dtype=KIND)
        number = 20 * take + np.arange(20)  # every frame of the recording has its own
        records["frame"] = number[:, None, None, None]
        records["place"] = np.stack([number, -number], 1)
        records["dark"] = number % 3 == 0
        yield records


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "sub" / "recording.npy"
    write_recording(path, LAYOUT, takes())
    return path


def test_what_is_written_is_read(path: Path) -> None:
    records = read_recording(path, LAYOUT)
    assert records is not None
    assert np.array_equal(records, np.stack(list(takes())))
    assert isinstance(records, np.memmap)  # only the requested part is read
    assert [file.name for file in path.parent.iterdir()] == ["recording.npy"]


def test_windows_are_pieces_of_the_recording(path: Path) -> None:
    records = read_recording(path, LAYOUT)
    assert records is not None
    frames, labels = random_windows(records, 200, 7, np.random.default_rng(0))
    assert frames.shape == (200, 7, 1, 2, 2)
    assert frames.dtype == np.float32
    number = labels["place"][..., 0]
    assert (np.diff(number, axis=1) == 1).all()
    assert (number // 20 == number[:, :1] // 20).all()  # none reaches into the next take
    assert np.array_equal(frames[:, :, 0, 1, 0], (number / 255).astype(np.float32))
    assert np.array_equal(labels["dark"], number % 3 == 0)
    assert set(number[:, 0] % 20) == set(range(14))  # anywhere, to the last that fits
    assert set(number[:, 0] // 20) == {0, 1, 2}


def test_more_frames_than_there_are(path: Path) -> None:
    records = read_recording(path, LAYOUT)
    assert records is not None
    assert random_windows(records, 2, 20, np.random.default_rng(0))[0].shape == (2, 20, 1, 2, 2)
    with pytest.raises(VPRError, match="takes of 20 frames, 21 are too many"):
        random_windows(records, 2, 21, np.random.default_rng(0))


def test_a_recording_that_fails_leaves_the_old_one(path: Path) -> None:
    def failing() -> Iterator[Records]:
        yield from takes(1)
        raise KeyboardInterrupt

    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        write_recording(path, LAYOUT, failing())
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["recording.npy"]


def test_concurrent_writers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one process records, another begins and is done with the same."""

    def slow() -> Iterator[Records]:
        for number, take in enumerate(takes()):
            yield take
            if number == 1:
                with monkeypatch.context() as patch:
                    patch.setattr("os.getpid", lambda: 1)
                    write_recording(path, LAYOUT, takes())

    write_recording(path, LAYOUT, slow())
    assert np.array_equal(np.load(path), np.stack(list(takes())))
    assert [file.name for file in path.parent.iterdir()] == ["recording.npy"]


@pytest.mark.parametrize(
    "content",
    [
        lambda path: path.read_bytes()[:-1],
        lambda path: b"",
        lambda path: b"something else",
    ],
)
def test_invalid_files_are_not_read(path: Path, content: object) -> None:
    path.write_bytes(content(path))  # type: ignore[operator]
    assert read_recording(path, LAYOUT) is None


def test_another_recording_is_not_read(path: Path) -> None:
    assert read_recording(path.with_name("gone.npy"), LAYOUT) is None
    assert read_recording(path, Layout(KIND, (4, 20))) is None
    other = record_type((1, 2, 2), {"place": np.dtype((np.float32, (2,)))})
    assert read_recording(path, Layout(other, (3, 20))) is None
