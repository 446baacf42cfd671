"""The limits of an upload, and what is left on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.segmenting.made import scenes, write_video
from vpr import VPR, ModelConfig, VPRError
from vpr.app import upload_jobs as module
from vpr.app.upload_jobs import Jobs, Limits
from vpr.pretrained import save_pretrained


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model")
    config = ModelConfig(2, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4)
    save_pretrained(VPR(config), folder)
    return str(folder)


def upload(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_video(path, scenes(12))
    return path


def nothing(what: str, done: int, total: int) -> None: ...


def test_an_upload_becomes_a_folder_with_a_page(model: str, tmp_path: Path) -> None:
    jobs, seen = Jobs(tmp_path / "app", model, Limits()), list[tuple[str, int, int]]()
    job, files = jobs.run(upload(tmp_path, "a b ü$(x).mp4"), 0, lambda *now: seen.append(now))
    assert files[0].name == "a-b-ü-x.html"
    assert {path.parent for path in files} == {tmp_path / "app" / job}
    assert seen[-1] == ("segmenting", 12, 12)
    assert jobs.file(job, "a-b-ü-x.csv") in files
    assert 'src="a-b-%C3%BC-x.mp4"' in files[0].read_text()
    for other in ("", "..", "../app", "a-b-ü-x.mp4/../a-b-ü-x.csv", "/etc/passwd"):
        assert jobs.file(job, other) is None
    assert jobs.file("0" * 32, files[0].name) is None


def test_old_jobs_are_deleted(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_JOBS", 1)
    jobs = Jobs(tmp_path / "app", model, Limits())
    first, files = jobs.run(upload(tmp_path, "x.mp4"), 0, nothing)
    second, _ = jobs.run(upload(tmp_path, "x.mp4"), 0, nothing)
    assert jobs.file(first, files[0].name) is None
    assert [path.name for path in (tmp_path / "app").iterdir()] == [second]


def test_training_is_limited_and_its_cache_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def fake(paths: list[str], folder: Path, seconds: float, *more: object, **how: object) -> None:
        asked.append(seconds)
        raise VPRError("stop here")

    monkeypatch.setattr(module, "adapt", fake)
    jobs = Jobs(tmp_path / "app", None, Limits(minutes=1))
    (tmp_path / "app" / module.CACHE).mkdir(parents=True)
    for seconds in (0, 30, 1e9):
        with pytest.raises(VPRError, match="stop here"):
            jobs.run(upload(tmp_path, "x.mp4"), seconds, nothing)
    assert asked == [60, 30, 60]
    assert not (tmp_path / "app" / module.CACHE).exists()


def test_uploads_that_are_refused(model: str, tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "app", model, Limits(megabytes=1))
    playlist = tmp_path / "list.mp4"
    playlist.write_text("#EXTM3U\n#EXTINF:1,\n/etc/passwd\n")
    table = tmp_path / "list.ffconcat"
    table.write_text("ffconcat version 1.0\nfile /etc/passwd\n")
    large = upload(tmp_path, "large.mp4")
    with large.open("ab") as file:
        file.truncate(1_000_001)
    for path, words in (
        (playlist, "is not a .mp4 file"),
        (table, "is no video"),
        (large, "larger than 1 MB"),
    ):
        with pytest.raises(VPRError, match=words):
            jobs.run(path, 0, nothing)
    assert not (tmp_path / "app").exists()


def test_a_job_that_takes_too_long_ends(model: str, tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "app", model, Limits(minutes=1e-9))
    with pytest.raises(VPRError, match="took longer than"):
        jobs.run(upload(tmp_path, "x.mp4"), 0, nothing)
