"""A training run as experiments see it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from vpr.config import RunConfig
from vpr.experiments.runner.base import Stopped
from vpr.experiments.runner.trained import (
    LOOKS,
    RECORD,
    finish,
    folder_name,
    run_folder,
    time_to_f1,
    trained,
)
from vpr.experiments.shared.moving_ball import ball, scores
from vpr.pretrained import CONFIG
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.stages import Timetable


def _ignore(done: int, total: int, note: str) -> None:
    pass


def _without_ce(config: RunConfig) -> RunConfig:
    return replace(config, model=replace(config.model, expected=False))


def _without_seconds(metrics: dict[str, Any]) -> dict[str, Any]:
    times = metrics["time_to_f1"]
    return metrics | {"time_to_f1": {n: at and at["step"] for n, at in times.items()}}


def _looks(folder: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (folder / LOOKS).read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def test_stopped_and_resumed_it_tells_the_same(tmp_path: Path) -> None:
    measure, config = trained(scores, every=3), ball("tiny")
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
    assert _looks(tmp_path / "whole" / name) == _looks(tmp_path / "parts" / name)
    assert parts.seconds > 0


def test_looking_changes_nothing(tmp_path: Path) -> None:
    config = ball("tiny")
    trained(scores, every=7)(config, 0, tmp_path, _ignore)
    train(config, tmp_path / "alone")
    looked = RunFolder(tmp_path / folder_name(config, every=7)).load().tensors
    alone = RunFolder(tmp_path / "alone").load().tensors
    assert all(torch.equal(looked[key], alone[key]) for key in alone)


def test_looks_are_under_the_rule_of_their_step(tmp_path: Path) -> None:
    """Until CE may decide, what is detected is what CU marks; so to the end without CE."""
    config = ball("tiny")
    timetable = Timetable(config.stages, config.training.steps)
    for each in (config, _without_ce(config)):
        trained(scores, every=7)(each, 0, tmp_path, _ignore)
        looks = _looks(tmp_path / folder_name(each, every=7))
        stages = [timetable.at(look["step"] - 1)[0] for look in looks]
        assert [look["stage"] for look in looks] == [stage.name for stage in stages]
        assert {"CE" in stage.criteria for stage in stages} == {False, True}
        for look, stage in zip(looks, stages, strict=True):
            level = look["levels"]["2"]
            if not stage.criteria:
                assert level["f1"] == level["update_rate"] == 0
            elif each is not config or "CE" not in stage.criteria:
                assert level["f1"] == level["f1_unexpected"]


def test_a_finished_run_is_only_read(tmp_path: Path) -> None:
    measure, config = trained(scores, every=3), ball("tiny")
    first = measure(config, 1, tmp_path, _ignore)

    def never(done: int, total: int, note: str) -> None:
        raise AssertionError("it trained again")

    assert measure(config, 1, tmp_path, never) == first


def test_a_run_that_was_told_to_stop_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = lambda *args, **kwargs: train(*args, **kwargs, until=2)  # noqa: E731
    monkeypatch.setattr("vpr.experiments.runner.trained.train", stopping)
    with pytest.raises(Stopped):
        trained(scores)(ball("tiny"), 0, tmp_path, _ignore)
    assert not list(tmp_path.glob(f"*/{RECORD}"))


def _told(*f1: float) -> list[dict[str, Any]]:
    """Looks at steps 50, 100, …, a second each."""
    return [
        {"step": 50 * n, "seconds": float(n), "levels": {"2": {"f1": value}}}
        for n, value in enumerate(f1, start=1)
    ]


@pytest.mark.parametrize(
    ("f1", "step"),
    [
        ((0.1, 0.96, 0.97), 100),
        ((0.99, 0.95, 0.95), 50),
        ((0.96, 0.94, 0.2, 0.95), 200),  # it did not stay
        ((0.99, 0.99, 0.94), None),
        ((0.1,), None),
    ],
)
def test_the_time_to_an_f1_is_that_from_which_on_it_stays(
    f1: tuple[float, ...], step: int | None
) -> None:
    wanted = None if step is None else {"step": step, "seconds": step / 50}
    assert time_to_f1(_told(*f1), "2") == wanted


def test_without_labels_there_is_no_time() -> None:
    assert time_to_f1([{"step": 50, "seconds": 1.0, "levels": {"2": {}}}], "2") is None


def test_a_record_has_the_time_of_each_level(tmp_path: Path) -> None:
    record, _ = finish(ball("tiny"), tmp_path, _ignore, every=7)
    wanted = time_to_f1(record["looks"], "2")
    assert record["time_to_f1"] == {"2": wanted}
    assert record.keys() == {"evaluation", "looks", "time_to_f1", "seconds", "provenance"}


def test_another_setting_has_another_folder() -> None:
    config = ball("tiny")
    others = [_without_ce(config), replace(config, seed=1), ball("tiny", slow=True), ball("cpu")]
    assert len({folder_name(each) for each in (config, *others)}) == 5


def test_a_run_older_than_a_field_of_the_configuration_is_found(tmp_path: Path) -> None:
    config = ball("tiny")
    assert run_folder(config, tmp_path) == tmp_path / folder_name(config)
    older = tmp_path / "tiny-moving-ball-01234567-s0"
    RunFolder(older).claim(config)
    content = json.loads((older / CONFIG).read_text())
    assert content["training"].pop("kl_balancing") is False  # its default
    (older / CONFIG).write_text(json.dumps(content))
    (tmp_path / "tiny-moving-ball-00000000-s0").mkdir()  # no run
    assert run_folder(config, tmp_path) == older
    for other in (_without_ce(config), replace(config, seed=1)):
        assert run_folder(other, tmp_path) == tmp_path / folder_name(other)
    RunFolder(tmp_path / folder_name(config)).claim(config)
    assert run_folder(config, tmp_path) == tmp_path / folder_name(config)
