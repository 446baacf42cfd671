"""A training run as experiments see it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from vpr.checkpoint import CONFIG, RunFolder
from vpr.config import RunConfig
from vpr.experiments.ball import ball, scores
from vpr.experiments.base import Stopped
from vpr.experiments.trained import BRANCH, LOOKS, RECORD, folder_name, run_folder, trained
from vpr.training import train


def _ignore(done: int, total: int, note: str) -> None:
    pass


def _without_ce(config: RunConfig) -> RunConfig:
    return replace(config, model=replace(config.model, expected=False))


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
    assert parts.metrics == whole.metrics
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
    for each in (config, _without_ce(config)):
        trained(scores, every=7)(each, 0, tmp_path, _ignore)
        looks = _looks(tmp_path / folder_name(each, every=7))
        silent = 1  # step 7: settled at 3, two stages of 2 steps; at step 8 CE may decide
        for look in looks if each is not config else looks[:silent]:
            level = look["levels"]["2"]
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
    monkeypatch.setattr("vpr.experiments.trained.train", stopping)
    with pytest.raises(Stopped):
        trained(scores)(ball("tiny"), 0, tmp_path, _ignore)
    assert not list(tmp_path.glob(f"*/{RECORD}"))


def test_a_run_without_ce_branches_off_the_run_with_it_bit_for_bit(tmp_path: Path) -> None:
    measure, both = trained(scores, every=7), ball("tiny")
    cu = _without_ce(both)
    plain = measure(cu, 0, tmp_path / "plain", _ignore)
    measure(both, 0, tmp_path / "branched", _ignore)
    assert (tmp_path / "branched" / folder_name(both, 7) / BRANCH).exists()
    steps: list[int] = []
    branched = measure(cu, 0, tmp_path / "branched", lambda done, total, note: steps.append(done))
    assert steps[0] > 1  # it did not start at the beginning
    assert branched.metrics == plain.metrics
    folders = [tmp_path / name / folder_name(cu, 7) for name in ("plain", "branched")]
    one, two = (RunFolder(folder).load().tensors for folder in folders)
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert folders[0].joinpath("metrics.jsonl").read_text() == (
        folders[1].joinpath("metrics.jsonl").read_text()
    )


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
    assert content["schedule"].pop("lift") == 1.0  # its default
    (older / CONFIG).write_text(json.dumps(content))
    (tmp_path / "tiny-moving-ball-00000000-s0").mkdir()  # no run
    assert run_folder(config, tmp_path) == older
    for other in (_without_ce(config), replace(config, seed=1)):
        assert run_folder(other, tmp_path) == tmp_path / folder_name(other)
    RunFolder(tmp_path / folder_name(config)).claim(config)
    assert run_folder(config, tmp_path) == tmp_path / folder_name(config)
