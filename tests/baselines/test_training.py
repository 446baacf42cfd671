"""The training loop of VPR trains baselines: they learn, stop and resume."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.baselines.made import CONFIGS, run
from vpr import VPRError, evaluate
from vpr.baselines import BaselineRun, BaselineSession, load_baseline, train_baseline
from vpr.data import training_rng
from vpr.pretrained import load_model
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train

KINDS = list(CONFIGS)


class OneBatch(BaselineSession):
    """Trains on the first batch repeatedly."""

    def batch(self) -> torch.Tensor:
        self.rng = training_rng(0)
        return super().batch()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls(kind: str, tmp_path: Path) -> None:
    losses: list[float] = []
    train(
        run(kind, 100, batch_size=4, length=6),
        tmp_path,
        on_step=lambda now: losses.append(now.loss),
        make_session=OneBatch,
    )
    assert sum(losses[-10:]) < 0.9 * sum(losses[:10])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stops", [(1,), (2, 3)])
def test_stopped_and_resumed_equals_whole(
    kind: str, stops: tuple[int, ...], tmp_path: Path
) -> None:
    config = run(kind, 5)
    train_baseline(config, tmp_path / "whole")
    for step in stops:
        assert not train_baseline(config, tmp_path / "parts", until=step).finished
    assert train_baseline(config, tmp_path / "parts").finished
    whole, parts = (RunFolder(tmp_path / name).load().tensors for name in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    assert int(whole["model.steps_done"]) == 5
    files = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "parts")]
    assert files[0] == files[1]
    levels = len(json.loads(files[0].splitlines()[0])["kl"])
    assert levels == config.model.levels


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    config = run("vta", 2)
    train_baseline(config, tmp_path)
    assert RunFolder(tmp_path).config(BaselineRun) == config
    with pytest.raises(VPRError, match=r"holds another run: model\.max_segment_length"):
        train_baseline(replace(config, model=replace(config.model, max_segment_length=4)), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_can_be_loaded_and_evaluated(kind: str, tmp_path: Path) -> None:
    config = run(kind, 2)
    train_baseline(config, tmp_path)
    model = load_baseline(tmp_path)
    assert not model.training
    result = evaluate(model, config.data, sequences=3, length=13)
    assert 0 <= result["levels"]["2"]["colour"]["f1"] <= 1
    assert {"periodic", "random"} == result["controls"]["2"].keys()
    if kind == "cw-vae":
        assert result["levels"]["3"]["update_rate"] == pytest.approx(2 / 12)
    with pytest.raises(VPRError, match="baseline"):
        load_model(tmp_path)


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    RunFolder(tmp_path).claim(run("vta", 2))
    with pytest.raises(VPRError, match="train it first"):
        load_baseline(tmp_path)


def test_frames_are_encoded_relative_to_the_data(tmp_path: Path) -> None:
    session = BaselineSession(run("vta", 2))
    frames = session.batch()
    encoded = (frames - session.model.pixel_mean) / session.model.pixel_std
    assert abs(float(encoded.mean())) < 0.2
    assert 0.8 < float(encoded.std()) < 1.2
