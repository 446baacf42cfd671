"""The shipped model for footage: the default, on the shipped clip."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import vpr
from vpr.cli import main
from vpr.features import extractor
from vpr.pretrained import FOOTAGE, find_model, load_model

CLIP = resources.files("vpr") / "examples" / "sintel.mp4"
CUTS = (133 / 24, 183 / 24)  # seconds; found by comparing successive frames


def test_files_are_small_and_name_no_paths() -> None:
    folder = find_model(FOOTAGE)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 15e6
    assert "/" not in json.loads((folder / "config.json").read_text())["data"]["path"]
    assert Path(str(CLIP)).stat().st_size < 1e6


def test_without_a_model_cuts_of_a_clip_are_found() -> None:
    timeline = vpr.segment(str(CLIP))
    assert timeline.model == FOOTAGE
    found = np.array([float(event.time) for event in timeline.events(3)])
    for cut in CUTS:
        assert np.abs(found - cut).min() <= 0.2
    assert all(event.probability is not None for event in timeline.events(3))
    assert len(found) < 15
    assert not timeline.warnings


def test_the_command_uses_it_without_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["segment", str(CLIP), "--out", str(tmp_path / "events"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == FOOTAGE
    assert (tmp_path / "events" / "sintel.html").exists()


def test_watch_uses_it_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(CLIP), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert summary["frames"] == 271  # of 520, at most 12.5 per second
    assert set(summary["events"]) == {"2", "3"}


@pytest.mark.parametrize("command", ["segment", "watch"])
def test_without_the_extra_the_error_is_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extractor.load_extractor.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "efficientnet_lite_pytorch", None)
    assert main([command, str(CLIP)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "pip install 'vpr-torch[features]'" in line


def test_other_vectors_are_refused() -> None:
    with pytest.raises(vpr.VPRError, match="needs vectors of 1280 features"):
        vpr.segment(np.zeros((30, 7)))


def test_probabilities_belong_to_the_weights() -> None:
    model = load_model(FOOTAGE)
    assert model.calibration is not None
    assert sorted(model.calibration.weights) == [2, 3]
