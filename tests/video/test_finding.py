"""From names to single pieces of footage."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from vpr import VPRError
from vpr.video import find_footage, open_footage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b 10.mp4",
        "b 9.mkv",
        "A.NPY",
        "cover.jpg",
        "notes.txt",
        ".hidden.mp4",
        "stills/2.png",
        "stills/10.png",
        "stills/deep/c.mov",
        "empty/readme.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


FOUND = ["A.NPY", "b 9.mkv", "b 10.mp4", "stills", "stills/deep/c.mov"]


def test_a_folder(folder: Path) -> None:
    assert find_footage(".") == FOUND
    assert find_footage(folder) == [str(folder / name) for name in FOUND]


@pytest.mark.usefixtures("folder")
def test_globs_lists_and_addresses() -> None:
    assert find_footage("b*") == ["b 9.mkv", "b 10.mp4"]
    assert find_footage("**/*.mov") == ["stills/deep/c.mov"]
    assert find_footage("*.jpg") == ["cover.jpg"]  # a picture that is named is a video of one frame
    named = ["b 9.mkv", Path("A.NPY"), "b*", "gone.mp4", "https://a.b/c*.mp4", "-", "/dev/video0"]
    rest = ["b 10.mp4", "gone.mp4", "https://a.b/c*.mp4", "-", "/dev/video0"]
    assert find_footage(named) == ["b 9.mkv", "A.NPY", *rest]


@pytest.mark.usefixtures("folder")
def test_a_name_with_brackets_is_a_name() -> None:
    Path("[1].mp4").touch()
    assert find_footage("[1].mp4") == ["[1].mp4"]


@pytest.mark.usefixtures("folder")
def test_no_footage_found() -> None:
    with pytest.raises(VPRError, match="empty has no footage"):
        find_footage("empty")
    with pytest.raises(VPRError, match=r"\*\.wmv matches no footage: check the path"):
        find_footage("*.wmv")
    with pytest.raises(VPRError, match="has 5 pieces of footage: open them one by one"):
        open_footage(".")


@pytest.mark.usefixtures("folder")
def test_a_link_back_is_not_followed() -> None:
    os.symlink(".", "stills/deep/round")
    assert find_footage(".") == FOUND


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_is_locked(folder: Path) -> None:
    (folder / "empty").chmod(0)
    with pytest.raises(VPRError, match="cannot read folder empty"):
        find_footage("empty")


def test_a_folder_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(VPRError, match=r"cannot read folder .*: Permission denied"):
        find_footage(folder)


def test_one_piece_by_a_glob(tmp_path: Path) -> None:
    np.save(tmp_path / "only one.npy", np.zeros((2, 4, 4), np.uint8))
    assert len(list(open_footage(tmp_path / "*.npy"))) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipes_and_devices_in_a_folder_are_skipped(tmp_path: Path) -> None:
    """Opening a named pipe waits until another process writes to it."""
    np.save(tmp_path / "only.npy", np.zeros((2, 4, 4), np.uint8))
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "zero.mp4").symlink_to("/dev/zero")
    only = [str(tmp_path / "only.npy")]
    assert find_footage(tmp_path) == find_footage(tmp_path / "*.*") == only
