"""Names of output files: simple and unique."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import relaxed
from vpr.segmenting.output_names import Target, find_targets


def nobody(name: str, source: str) -> bool:
    return False


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a/x.mp4", "b/x.mp4", "b/deep/y.mkv", "c/x.mp4", "c/x.mkv", "c/1.5 Ünter.mp4"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*named: str) -> dict[str, str]:
    return {target.source: target.name for target in find_targets(named, nobody).targets}


def test_a_file_by_its_name(here: Path) -> None:
    assert names("a/x.mp4") == {"a/x.mp4": "x"}
    assert names("c/1.5 Ünter.mp4") == {"c/1.5 Ünter.mp4": "1.5 Ünter"}


def test_a_folder_keeps_its_structure(here: Path) -> None:
    assert names("b") == {"b/x.mp4": "x", "b/deep/y.mkv": "deep/y"}


def test_shared_names_are_extended(here: Path) -> None:
    assert names("a/x.mp4", "b/x.mp4") == {"a/x.mp4": "a/x", "b/x.mp4": "b/x"}
    assert names("c/x.mp4", "c/x.mkv") == {"c/x.mp4": "x.mp4", "c/x.mkv": "x.mkv"}


def test_the_same_file_twice_is_one(here: Path) -> None:
    assert list(names("a/x.mp4", "./a/x.mp4", str(here / "a/x.mp4"), "a")) == ["a/x.mp4"]


def test_names_of_other_footage_are_not_used(here: Path) -> None:
    found = find_targets(["a/x.mp4"], lambda name, source: name in ("x", "x.mp4"))
    assert found.targets == [Target("a/x.mp4", "a/x")]


def test_an_error_does_not_stop_the_others(here: Path) -> None:
    found = find_targets(["empty", "a/x.mp4", "*.mov"], nobody)
    assert [target.name for target in found.targets] == ["x"]
    assert set(found.failed) == {"empty", "*.mov"}


def test_addresses(here: Path) -> None:
    found = names("rtsp://host/a b?x=1", "-")
    assert found["-"] == "standard-input"
    assert "/" not in found["rtsp://host/a b?x=1"]


parts = st.sampled_from(["a", "b", "A", "x.mp4", "x.mkv", "x"])


@relaxed
@given(st.lists(st.lists(parts, min_size=1, max_size=3).map("/".join), unique=True, max_size=6))
def test_no_two_share_a_name_and_none_leaves_the_folder(named: list[str]) -> None:
    """Missing paths get names too; opening them raises the error."""
    found = [
        target.name
        for target in find_targets([f"/nowhere/{each}" for each in named], nobody).targets
    ]
    assert len(set(found)) == len(found)
    assert not any(name.startswith("/") or ".." in name.split("/") for name in found)
