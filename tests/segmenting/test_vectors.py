"""Feature vectors end to end: train, segment, stream, page."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

import vpr
from vpr.cli import main
from vpr.errors import VPRError
from vpr.pretrained import load_model, save_pretrained

TINY = [
    *("--model.width", "16", "--model.state-size", "4", "--training.steps", "3"),
    *("--training.batch-size", "2", "--training.length", "6", "--json"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(0)
    np.save(folder / "features.npy", 100 + 5 * rng.normal(size=(200, 7)).cumsum(0))
    words = ["train", "cpu/vectors", "--data.path", str(folder / "features.npy")]
    assert main([*words, "--out", str(folder / "run"), *TINY]) == 0
    return folder / "run"


def test_the_model_keeps_how_its_vectors_were_standardised(run: Path, tmp_path: Path) -> None:
    model = load_model(run)
    assert model.preprocessing is not None
    rows = np.load(run.parent / "features.npy")
    standard = model.preprocessing(rows[:180])  # the part for training
    assert np.allclose(standard.mean(0), 0, atol=1e-4)
    save_pretrained(model, tmp_path / "copy")
    copy = load_model(tmp_path / "copy")
    assert copy.preprocessing is not None
    assert (copy.preprocessing(rows) == model.preprocessing(rows)).all()


def test_array_file_and_stream_give_the_same_events(run: Path) -> None:
    model, path = load_model(run), run.parent / "features.npy"
    rows = np.load(path)
    timeline = vpr.segment(rows, model, rate=10)
    assert timeline.frames == 200
    assert timeline.end == Fraction(20)
    assert vpr.segment(path, run, rate=10).boundaries == timeline.boundaries
    assert model.preprocessing is not None
    stream, found = vpr.Stream(model), []
    for row in torch.from_numpy(model.preprocessing(rows)):
        found += [(event.frame, event.level) for event in stream.push(row)]
    assert found == [(event.frame, event.level) for event in timeline.boundaries]


def test_segment_writes_a_page_with_curves_and_without_pictures(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["segment", str(run.parent / "features.npy"), "--model", str(run)]
    assert main([*words, "--out", str(tmp_path), "--rate", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pieces"][0]["frames"] == 200
    timeline = vpr.Timeline.from_json(tmp_path / "features.json")
    assert not timeline.pictures
    assert len(timeline.curves[2].kl_static) == 200
    assert "D<sub>st</sub>" in (tmp_path / "features.html").read_text()


def test_mistakes_are_one_line(run: Path) -> None:
    model = load_model(run)
    with pytest.raises(VPRError, match="needs vectors of 7 features"):
        vpr.segment(np.zeros((5, 3)), model)
    with pytest.raises(VPRError, match=r"needs vectors \(7,\), not pictures"):
        vpr.segment(np.zeros((5, 64, 64, 3), np.uint8), model)
    with pytest.raises(VPRError, match="NaN or infinite values in row 2"):
        vpr.segment(np.where(np.arange(5)[:, None] == 2, np.nan, np.zeros((5, 7))), model)


def test_a_missing_file_is_named(run: Path) -> None:
    with pytest.raises(VPRError, match=r"nope\.npy does not exist: check the path"):
        vpr.segment("nope.npy", run)
