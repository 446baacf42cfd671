"""Warnings about results that should not be trusted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vpr
from tests.segmenting.made import scenes
from vpr.cli import main
from vpr.config import RunConfig
from vpr.data import MovingBall, Synthetic, ThreeDShapesDynamic, evaluation_rng
from vpr.data.pictures import as_images
from vpr.presets import preset
from vpr.pretrained.training_record import training_record
from vpr.segmenting.segment import SAMPLE_SIZE, Sample
from vpr.training.loop import train

WORLDS = {"moving-ball": MovingBall(), "3dsd": ThreeDShapesDynamic()}


@pytest.mark.parametrize("name", WORLDS)
def test_a_shipped_model_fits_its_own_data_and_no_other(name: str) -> None:
    own = as_images(WORLDS[name].batch(1, 120, evaluation_rng(0)).frames)[0]
    assert vpr.segment(own, name).warnings == ()
    other = scenes(64, 64)
    (warning,) = vpr.segment(other, name).warnings
    assert f"trained on generated pictures ({name})" in warning
    assert "Train a model on this footage" in warning


def test_event_rates() -> None:
    pictures = as_images(MovingBall().batch(1, 120, evaluation_rng(0)).frames)[0]
    (none,) = vpr.segment(pictures[:1].repeat(120, 0), "moving-ball", threshold=100.0).warnings
    assert none.startswith("No level has an event in 120 frames")
    (many,) = vpr.segment(pictures, "moving-ball", threshold=1e-6).warnings
    assert many.startswith("Level 2 has an event at")
    assert vpr.segment(pictures[:50], "moving-ball", threshold=1e-6).warnings == ()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "features.npy"
    np.save(path, np.random.default_rng(0).normal(size=(200, 6)).cumsum(0))
    return path


@pytest.fixture(scope="module")
def run(vectors: Path) -> Path:
    """A run that was stopped after three of six steps."""
    out = vectors.parent / "run"
    words = ["train", "cpu/vectors", "--data.path", str(vectors), "--out", str(out), "--json"]
    tiny = ["--model.width", "16", "--training.batch-size", "2", "--training.length", "6"]
    assert main([*words, *tiny, "--training.steps", "6", "--until", "3"]) == 0
    return out


def test_an_unfinished_run_and_distant_vectors_everywhere(
    run: Path, vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far = tmp_path / "far.npy"
    np.save(far, np.load(vectors) + 100)
    words = ["segment", str(vectors), str(far), "--model", str(run), "--out", str(tmp_path)]
    for _ in range(2):  # also when the files are finished
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        said = capsys.readouterr()
        near_piece, far_piece = json.loads(said.out)["pieces"]
        unfinished = near_piece["warnings"][0]
        assert "step 3 of 6" in unfinished
        assert far_piece["warnings"][0] == unfinished
        assert "times as far from their mean" in far_piece["warnings"][1]
        assert said.err.count("Warning: The model is not trained completely") == 1
        assert f"({far})" in said.err
    timeline = vpr.Timeline.from_json(tmp_path / "far.json")
    assert list(timeline.warnings) == far_piece["warnings"]
    assert '<p class="warning">The model is not trained' in (tmp_path / "far.html").read_text()
    assert "<b>Warning:</b> The model is not" in timeline._repr_html_()


def test_the_record_of_a_run(run: Path, tmp_path: Path) -> None:
    record = training_record(str(run))
    assert (record.data, record.step, record.steps) == ("vectors", 3, 6)
    assert record.is_unfinished
    base = preset("cpu/moving-ball").with_data(Synthetic())
    small = replace(base.training, steps=2, batch_size=2, length=6)
    config: RunConfig = replace(base, training=small)
    train(config, tmp_path / "whole")
    record = training_record(str(tmp_path / "whole"))
    assert record.step == record.steps == 2
    assert not record.is_unfinished
    assert record.explained is not None
    assert training_record("no such model") == training_record(None)


def test_a_sample_is_bounded_and_regular() -> None:
    sample = Sample()
    for number in range(1000):
        sample.add(np.array([number]))
    numbers = [int(row[0]) for row in sample.rows]
    assert SAMPLE_SIZE // 2 <= len(numbers) <= SAMPLE_SIZE
    assert len(set(np.diff(numbers))) == 1
