"""Training runs of experiments."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from vpr.config import RunConfig
from vpr.experiments.runner.experiment import Stopped
from vpr.experiments.runner.periodic_log import RECORD
from vpr.experiments.runner.settings import run_config
from vpr.experiments.runner.training_runs import (
    INSPECTIONS,
    folder_name,
    measure_training,
    run_folder,
    time_to_f1,
    train_or_load,
)
from vpr.experiments.shared.moving_ball import scores
from vpr.pretrained import CONFIG
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.stages import StageSchedule


def _ignore(done: int, total: int, note: str) -> None:
    pass


def _without_ce(config: RunConfig) -> RunConfig:
    return replace(config, model=replace(config.model, expected=False))


def _without_seconds(metrics: dict[str, Any]) -> dict[str, Any]:
    times = metrics["time_to_f1"]
    return metrics | {"time_to_f1": {n: at and at["step"] for n, at in times.items()}}


def _inspections(folder: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (folder / INSPECTIONS).read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def test_a_resumed_run_has_the_same_metrics(tmp_path: Path) -> None:
    measure, config = measure_training(scores, every=3), run_config("moving-ball", "tiny")
    whole = measure(config, 0, tmp_path / "whole", _ignore)

    class EnoughError(Exception):
        pass

    def stop(done: int, total: int, note: str) -> None:
        if done == 7:
            raise EnoughError

    with pytest.raises(EnoughError):
        measure(config, 0, tmp_path / "parts", stop)
    parts = measure(config, 0, tmp_path / "parts", _ignore)
    assert _without_seconds(parts.metrics) == _without_seconds(whole.metrics)
    name = folder_name(config, every=3)
    assert _inspections(tmp_path / "whole" / name) == _inspections(tmp_path / "parts" / name)
    assert parts.seconds > 0


def test_inspections_do_not_affect_training(tmp_path: Path) -> None:
    config = run_config("moving-ball", "tiny")
    measure_training(scores, every=7)(config, 0, tmp_path, _ignore)
    train(config, tmp_path / "alone")
    inspected = RunFolder(tmp_path / folder_name(config, every=7)).load().tensors
    alone = RunFolder(tmp_path / "alone").load().tensors
    assert all(torch.equal(inspected[key], alone[key]) for key in alone)


def test_inspections_use_the_rule_of_their_step(tmp_path: Path) -> None:
    """Without CE, in early stages or throughout, the boundaries are those of CU."""
    config = run_config("moving-ball", "tiny")
    schedule = StageSchedule(config.stages, config.training.steps)
    for each in (config, _without_ce(config)):
        measure_training(scores, every=7)(each, 0, tmp_path, _ignore)
        inspections = _inspections(tmp_path / folder_name(each, every=7))
        stages = [schedule.at(inspection["step"] - 1)[0] for inspection in inspections]
        assert [inspection["stage"] for inspection in inspections] == [
            stage.name for stage in stages
        ]
        assert {"CE" in stage.criteria for stage in stages} == {False, True}
        for inspection, stage in zip(inspections, stages, strict=True):
            level = inspection["levels"]["2"]
            if not stage.criteria:
                assert level["f1"] == level["update_rate"] == 0
            elif each is not config or "CE" not in stage.criteria:
                assert level["f1"] == level["f1_unexpected"]


def test_a_finished_run_is_only_read(tmp_path: Path) -> None:
    measure, config = measure_training(scores, every=3), run_config("moving-ball", "tiny")
    first = measure(config, 1, tmp_path, _ignore)

    def never(done: int, total: int, note: str) -> None:
        raise AssertionError("trained again")

    assert measure(config, 1, tmp_path, never) == first


def test_an_interrupted_run_raises_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = lambda *args, **kwargs: train(*args, **kwargs, until=2)  # noqa: E731
    monkeypatch.setattr("vpr.experiments.runner.training_runs.train", stopping)
    with pytest.raises(Stopped):
        measure_training(scores)(run_config("moving-ball", "tiny"), 0, tmp_path, _ignore)
    assert not list(tmp_path.glob(f"*/{RECORD}"))


def _inspections_with(*f1: float) -> list[dict[str, Any]]:
    """Inspections at steps 50, 100, …, one per second."""
    return [
        {"step": 50 * n, "seconds": float(n), "levels": {"2": {"f1": value}}}
        for n, value in enumerate(f1, start=1)
    ]


@pytest.mark.parametrize(
    ("f1", "step"),
    [
        ((0.1, 0.96, 0.97), 100),
        ((0.99, 0.95, 0.95), 50),
        ((0.96, 0.94, 0.2, 0.95), 200),  # not reached for good at the first step
        ((0.99, 0.99, 0.94), None),
        ((0.1,), None),
    ],
)
def test_time_to_f1_is_when_f1_stays_at_the_target(f1: tuple[float, ...], step: int | None) -> None:
    wanted = None if step is None else {"step": step, "seconds": step / 50}
    assert time_to_f1(_inspections_with(*f1), "2") == wanted


def test_time_to_f1_is_none_without_labels() -> None:
    assert time_to_f1([{"step": 50, "seconds": 1.0, "levels": {"2": {}}}], "2") is None


def test_a_record_has_the_time_of_each_level(tmp_path: Path) -> None:
    record, _ = train_or_load(run_config("moving-ball", "tiny"), tmp_path, _ignore, every=7)
    wanted = time_to_f1(record["looks"], "2")
    assert record["time_to_f1"] == {"2": wanted}
    assert record.keys() == {"evaluation", "looks", "time_to_f1", "seconds", "provenance"}


def test_another_configuration_has_another_folder() -> None:
    config = run_config("moving-ball", "tiny")
    others = [
        _without_ce(config),
        replace(config, seed=1),
        run_config("moving-ball-slow", "tiny"),
        run_config("moving-ball", "cpu"),
    ]
    assert len({folder_name(each) for each in (config, *others)}) == 5


def test_a_run_older_than_a_field_of_the_configuration_is_found(tmp_path: Path) -> None:
    config = run_config("moving-ball", "tiny")
    assert run_folder(config, tmp_path) == tmp_path / folder_name(config)
    older = tmp_path / "tiny-moving-ball-01234567-s0"
    RunFolder(older).claim(config)
    content = json.loads((older / CONFIG).read_text())
    assert content["training"].pop("kl_balancing") is False  # its default
    (older / CONFIG).write_text(json.dumps(content))
    (tmp_path / "tiny-moving-ball-00000000-s0").mkdir()  # not a run folder
    assert run_folder(config, tmp_path) == older
    for other in (_without_ce(config), replace(config, seed=1)):
        assert run_folder(other, tmp_path) == tmp_path / folder_name(other)
    RunFolder(tmp_path / folder_name(config)).claim(config)
    assert run_folder(config, tmp_path) == tmp_path / folder_name(config)
