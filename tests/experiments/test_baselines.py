"""The experiment `baselines`: its runs, what they are scored against, and resuming."""

import json
from pathlib import Path

import pytest

from vpr.baselines import CWVAEConfig
from vpr.experiments.figures import baselines
from vpr.experiments.runner.experiment import Stopped
from vpr.experiments.runner.periodic_log import RECORD
from vpr.experiments.shared import baseline_runs
from vpr.experiments.shared.baseline_runs import (
    CURVE,
    baseline_run,
    factors_of,
    final_scores,
    finish_baseline,
)
from vpr.training.checkpoint import RunFolder
from vpr.training.session import Session

RUN = baseline_run("vta-moving-ball", "tiny")


def nothing(done: int, total: int, note: str) -> None:
    pass


def test_variants_are_those_that_readers_look_for() -> None:
    for scale in ("cpu", "paper", "tiny"):
        made = baselines.variants(scale)
        worlds = [
            {config.data.name for name, config in made.items() if name.startswith(kind)}
            for kind in ("vta", "cw-vae")
        ]
        assert worlds[0] >= {"moving-ball", "3dsd", "bouncing-balls", "maze"}
        assert worlds[1] == {"moving-ball", "3dsd"}
        assert len({config.preset for config in made.values()}) == len(made)
    default, aligned = (made[f"cw-vae-3dsd{end}"].model for end in ("", "-aligned"))
    assert isinstance(default, CWVAEConfig)
    assert (default.intervals, aligned.intervals) == ((1, 6, 36), (1, 4, 8))


@pytest.mark.parametrize("name", baselines.VARIANTS)
def test_scored_factors_exist(name: str) -> None:
    config = baseline_run(name, "tiny")
    levels = {level for level, _ in factors_of(config)}
    assert levels <= set(range(2, config.model.levels + 1))


def test_a_stopped_run_goes_on_and_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline_runs, "EVERY", 2)
    whole, folder = finish_baseline(RUN, tmp_path / "whole", nothing)
    assert whole["curve"]["step"] == [2, 4, 6, 8]
    assert (folder / RECORD).exists()

    class DiesError(Exception):
        pass

    def die(done: int, total: int, note: str) -> None:
        if done == 5:
            raise DiesError

    with pytest.raises(DiesError):
        finish_baseline(RUN, tmp_path / "parts", die)
    again, folder = finish_baseline(RUN, tmp_path / "parts", nothing)
    assert again["evaluation"] == whole["evaluation"]
    assert again["curve"] == whole["curve"]
    assert len((folder / CURVE).read_text().splitlines()) == 4
    (folder / "model.safetensors").unlink()  # the record is enough
    assert finish_baseline(RUN, tmp_path / "parts", nothing)[0] == again


def test_a_run_that_is_asked_to_stop_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Session.last
    monkeypatch.setattr(Session, "is_finished", property(lambda self: self.step >= last(self)))
    monkeypatch.setattr(Session, "last", lambda self: 4)
    with pytest.raises(Stopped):
        finish_baseline(RUN, tmp_path, nothing)


def test_looking_at_a_model_does_not_change_its_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for every in (1, 100):
        monkeypatch.setattr(baseline_runs, "EVERY", every)
        _, folder = finish_baseline(RUN, tmp_path / str(every), nothing)
        found.append(RunFolder(folder).load().tensors)
    assert all((found[0][name] == found[1][name]).all() for name in found[0])


def test_scores_have_controls_with_as_many_boundaries(tmp_path: Path) -> None:
    record, _ = finish_baseline(RUN, tmp_path, nothing)
    scores = final_scores(record, RUN)
    for name in ("f1", "precision", "recall", "fpr", "periodic_f1", "random_f1"):
        assert 0 <= scores[f"{name}_colour"] <= 1
    json.dumps(scores)


def test_cw_vae_predicts_events(tmp_path: Path) -> None:
    config = baseline_run("cw-vae-moving-ball", "tiny")
    metrics = baselines.measure(config, 0, tmp_path, nothing).metrics
    scores = metrics["prediction"]["colour"]
    assert scores.keys() == {"accuracy", "steps", "events", "reconstructed"}
    assert all(0 <= value <= 1 for value in scores.values())
    assert scores["accuracy"] <= scores["events"]
