"""`vpr bench segment`: generated footage, reported fields, memory, detector."""

from __future__ import annotations

import itertools
import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import segment as bench
from benchmarks.footage import write_repeated, write_scenes
from vpr.cli import main
from vpr.video import Fit, open_footage


def test_repeated_footage_has_continuous_times(tmp_path: Path) -> None:
    once, long = tmp_path / "a.mp4", tmp_path / "b.mp4"
    write_scenes(once, 30)
    write_repeated(long, once, 4)
    times = [frame.time for frame in open_footage(long, fit=Fit(16, 16))]
    assert len(times) == 120
    assert {b - a for a, b in itertools.pairwise(times)} == {times[1]}


def test_reported_fields(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("scenedetect")
    monkeypatch.setattr(bench, "MINUTE", 30)
    monkeypatch.setattr(bench, "one_core", nullcontext)
    monkeypatch.setattr(
        bench, "_segmentation_peak_mb", lambda path, name: float(path.stat().st_size)
    )
    clip = tmp_path / "clip.mp4"
    write_scenes(clip, 110)
    flags = ["--repeats", "1", "--minutes", "2"]
    assert main(["bench", "segment", str(clip), *flags, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (each,) = result["files"]
    assert (each["file"], each["frames"]) == (str(clip), 110)
    assert each["vpr_over_content"] == pytest.approx(each["vpr_fps"] / each["content_fps"])
    shares = [each[f"{what}_share"] for what in ("decoding", "model", "rest")]
    assert sum(shares) == pytest.approx(1)
    assert min(shares) > 0
    assert result["growth_mb"] == result["long_mb"] - result["minute_mb"] > 0
    assert main(["bench", "segment", *flags]) == 0
    assert "share of decoding" in capsys.readouterr().out


def test_peak_memory_of_a_new_process(tmp_path: Path) -> None:
    write_scenes(tmp_path / "a.mp4", 20)
    assert 50 < bench._segmentation_peak_mb(tmp_path / "a.mp4", "moving-ball") < 2000


def test_the_detector_finds_the_cut(tmp_path: Path) -> None:
    pytest.importorskip("scenedetect")
    write_scenes(tmp_path / "a.mp4", 150)
    assert bench.detect_scenes(str(tmp_path / "a.mp4"), "opencv") == 2
    assert bench.detect_scenes(str(tmp_path / "a.mp4"), "pyav") == 2
