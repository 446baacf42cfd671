"""Training on the footage that is to be segmented: `vpr segment --adapt`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import vpr
from tests.cli.test_cli import vpr as command
from tests.segmenting.made import scenes, write_video
from vpr import VPR, VPRError
from vpr.pretrained import load_model, preprocessing_of
from vpr.segmenting import adapt as adapting
from vpr.training.checkpoint import RunFolder

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("vpr.cli.segment.ADAPT_SECONDS", 0.1)
    monkeypatch.setattr(adapting, "TRIAL_STEPS", 2)
    monkeypatch.setattr(adapting, "MIN_STEPS", 3)
    monkeypatch.setattr(adapting, "find_spec", lambda name: None)  # no frozen features
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.npy"
    np.save(path, np.random.default_rng(0).normal(size=(40, 5)).cumsum(0))
    return path


def test_vectors_need_a_model_of_their_own(rows: Path, capsys: Capture) -> None:
    code, out, err = command(capsys, "segment", str(rows))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "--adapt" in err
    assert "--model" in err


def test_a_video_without_a_model(capsys: Capture) -> None:
    """Footage shorter than the preset's sequences; the path may follow --adapt."""
    write_video(Path("clip.mp4"), scenes(20))
    code, out, err = command(capsys, "segment", "--adapt", "clip.mp4", "--out", "o", "--json")
    assert code == 0, err
    assert json.loads(out)["pieces"][0]["frames"] == 20
    assert RunFolder("o-model").config().training.length == 20
    assert "Saved the model in o-model. Reuse it with vpr segment … --model o-model." in err


def test_the_model_is_used_again_for_the_same_footage(rows: Path, capsys: Capture) -> None:
    words = ["segment", str(rows), "--out", "o", "--json", "--adapt"]

    def model(*more: str) -> tuple[str, str]:
        code, out, err = command(capsys, *words, *more)
        assert code == 0, err
        said = json.loads(out)
        return said["model"], said["pieces"][0]["status"]

    assert model("0.1s") == ("o-model", "done")
    before = Path("o-model/model.safetensors").read_bytes()
    assert model("0.1s") == ("o-model", "skipped")
    assert model("0.2s")[0] == "o-model-2"
    assert model("0.2s", "--force") == ("o-model-3", "done")
    np.save(rows, np.load(rows)[:30])
    assert model("0.1s") == ("o-model-4", "done")
    assert Path("o-model/model.safetensors").read_bytes() == before


def test_starting_from_a_model_keeps_its_preprocessing(rows: Path) -> None:
    adapting.adapt([str(rows)], Path("first"), 0.1)
    np.save("other.npy", np.load(rows) * 3 + 1)
    seen: list[tuple[str, int, int]] = []
    adapting.adapt(
        ["other.npy"], Path("second"), 0.1, "first", on_progress=lambda *now: seen.append(now)
    )
    first, second = load_model("first"), load_model("second")
    given = np.load("other.npy")
    before, after = preprocessing_of(first), preprocessing_of(second)
    assert before is not None
    assert after is not None
    assert (before(given) == after(given)).all()
    distance = [
        float((a - b).abs().max()) for a, b in zip(*map(weights, (first, second)), strict=True)
    ]
    assert 0 < max(distance) < 0.1  # a few steps from the start
    assert [stage.name for stage in RunFolder("second").config().stages] == ["train"]
    assert seen[-1][1:] == (3, 3)


def weights(model: VPR) -> list[object]:
    return [parameter.detach() for parameter in model.parameters()]


def test_in_python_nothing_is_kept(rows: Path) -> None:
    timeline = vpr.segment(np.load(rows), adapt=0.1)
    assert timeline.frames == 40
    again = vpr.segment(rows, timeline_model(rows), adapt=0.1)
    assert again.frames == 40
    assert not list(Path().glob("*-model*"))
    with pytest.raises(VPRError, match="a path or an array"):
        vpr.segment(iter(()), adapt=0.1)


def timeline_model(rows: Path) -> VPR:
    adapting.adapt([str(rows)], Path("kept"), 0.1)
    return load_model("kept")


def test_training_that_takes_too_long_ends(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(adapting, "MAX_OVERRUN", 0)
    monkeypatch.setattr(adapting, "MIN_STEPS", 9)
    monkeypatch.setattr(adapting, "CHECKPOINT_INTERVAL", 2)
    code, _, err = command(capsys, "segment", str(rows), "--adapt", "0.1s", "--out", "o")
    assert code == 0, err
    timeline = vpr.Timeline.from_json("o/rows.json")
    assert "step 2 of 9" in timeline.warnings[0]


@pytest.mark.parametrize(
    ("footage", "words"),
    [("nope.mp4", "nope.mp4 does not exist"), ("rows.npy", "--adapt must be a time above 0")],
)
def test_mistakes_are_one_line(rows: Path, capsys: Capture, footage: str, words: str) -> None:
    time = "0" if footage == "rows.npy" else "1s"
    code, out, err = command(capsys, "segment", footage, "--adapt", time, "--out", "o")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
