"""The run folder: complete or absent, and owned by one run."""

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR, VPRError
from vpr.pretrained import FORMAT, data_for, load_model
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train


@pytest.fixture
def run(tmp_path: Path) -> Path:
    train(tiny_run(steps=2), tmp_path / "run")
    return tmp_path / "run"


def test_saved_model_loads_and_gives_the_same(run: Path, tmp_path: Path) -> None:
    model = VPR.from_pretrained(str(run))
    model.save_pretrained(str(tmp_path / "copy"))
    again = VPR.from_pretrained(str(tmp_path / "copy"))
    video = torch.rand(2, 4, *model.config.frame)
    with torch.no_grad():
        assert torch.equal(model.observe(video).c0, again.observe(video).c0)


def test_nothing_in_the_folder_is_pickled(run: Path) -> None:
    kinds = {path.suffix for path in run.iterdir() if path.is_file()}
    assert kinds == {".json", ".jsonl", ".safetensors", ""}  # and the empty lock
    assert not list(run.glob("*.partial"))


def test_other_config_in_the_same_folder_is_refused(run: Path) -> None:
    before = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
    with pytest.raises(VPRError, match="holds another run: seed is 0 there and 7 here"):
        train(replace(tiny_run(steps=2), seed=7), run)
    assert before == {path: path.read_bytes() for path in run.iterdir() if path.is_file()}


def test_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(VPRError, match="not a run and not empty"):
        train(tiny_run(steps=1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


@pytest.mark.parametrize("file", ["model.safetensors", "training.safetensors"])
def test_truncated_and_altered_weights_are_refused(run: Path, file: str) -> None:
    path = run / file
    whole = path.read_bytes()

    def load() -> None:
        load_model(run) if file.startswith("model") else RunFolder(run).load()

    for length in (0, 7, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(VPRError, match="truncated"):
            load()
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    with pytest.raises(VPRError, match="altered"):
        load()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": FORMAT + 1}, "upgrade vpr"),
        ({"format": None}, "no format version"),
        ({"format": True}, "no format version"),
        ({"model": {"levels": 3}}, "does not fit"),
        ({"model": {"wings": 2}}, "unknown field 'wings'"),
    ],
)
def test_configs_that_do_not_fit_are_refused(
    run: Path, change: dict[str, object], words: str
) -> None:
    config = json.loads((run / "config.json").read_text())
    for key, value in change.items():
        config[key] = config[key] | value if isinstance(value, dict) else value
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(VPRError, match=words):
        load_model(run)


@pytest.fixture
def older(run: Path) -> Path:
    """A folder of format 1, which had a schedule in place of stages."""
    config = json.loads((run / "config.json").read_text())
    del config["stages"]
    config |= {"format": 1, "schedule": {"name": "linear"}}
    config["training"]["elbo_only"] = True
    (run / "config.json").write_text(json.dumps(config))
    return run


def test_a_run_of_an_older_vpr_cannot_go_on(older: Path) -> None:
    before = {path: path.read_bytes() for path in older.iterdir() if path.is_file()}
    with pytest.raises(VPRError, match=r"run was trained by an older vpr: train it again") as error:
        train(tiny_run(steps=2), older)
    assert len(str(error.value).splitlines()) == 1
    assert before == {path: path.read_bytes() for path in older.iterdir() if path.is_file()}


def test_the_model_of_an_older_vpr_is_loaded_if_it_fits(older: Path) -> None:
    assert load_model(older).config == tiny_run(steps=2).model
    config = json.loads((older / "config.json").read_text())
    config["model"]["channels"] = 8
    (older / "config.json").write_text(json.dumps(config))
    with pytest.raises(VPRError, match="does not fit"):
        load_model(older)


def test_the_data_of_a_run_is_found_whatever_else_its_config_says(older: Path) -> None:
    assert data_for(older) == tiny_run(steps=2).data


def test_broken_config_is_one_clear_line(run: Path) -> None:
    (run / "config.json").write_text('{"format": 1, "mod')
    with pytest.raises(VPRError, match="not valid JSON"):
        load_model(run)


def test_saving_a_model_over_a_run_is_refused(run: Path) -> None:
    with pytest.raises(VPRError, match="is a training run, whose files would be overwritten"):
        load_model(run).save_pretrained(str(run))
    RunFolder(run).config()


def test_weights_in_place_of_a_checkpoint_are_refused(run: Path) -> None:
    (run / "training.safetensors").write_bytes((run / "model.safetensors").read_bytes())
    with pytest.raises(VPRError, match="not a checkpoint of a training run"):
        train(tiny_run(steps=2), run)


def test_a_start_that_was_killed_at_once_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "config.json.partial").write_text("{")
    assert train(tiny_run(steps=1), tmp_path).finished


def test_unknown_model_says_what_there_is() -> None:
    with pytest.raises(VPRError, match="no model 'nothing-like-it'"):
        VPR.from_pretrained("nothing-like-it")


def test_run_without_weights_says_train_first(tmp_path: Path) -> None:
    RunFolder(tmp_path / "new").claim(tiny_run(steps=1))
    with pytest.raises(VPRError, match="train it first"):
        load_model(tmp_path / "new")


def test_full_disk_leaves_the_last_checkpoint(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.read_bytes() for path in run.glob("*.safetensors")}
    folder, model = RunFolder(run), load_model(run)
    checkpoint = folder.load()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VPRError, match="no room left on the disk; nothing was overwritten"):
        folder.save(model, checkpoint)
    assert before == {path: path.read_bytes() for path in run.glob("*.safetensors")}
    assert not list(run.glob("*.partial"))


def test_hub_id_loads_from_the_hub(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def snapshot_download(name: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((name, revision))
        return str(run)

    hub = SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert VPR.from_pretrained("somebody/a-model").config == RunFolder(run).config().model
    assert VPR.from_pretrained("somebody/a-model@1a2b").config == RunFolder(run).config().model
    assert asked == [("somebody/a-model", None), ("somebody/a-model", "1a2b")]


def test_hub_id_without_the_hub_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(VPRError, match=r"pip install 'vpr-torch\[hub\]'"):
        VPR.from_pretrained("somebody/a-model")


@pytest.mark.parametrize(
    ("status", "says"),
    [(None, "could not be reached"), (500, "could not be reached"), (404, "has no such model")],
)
def test_hub_that_does_not_have_it_is_one_line(
    monkeypatch: pytest.MonkeyPatch, status: int | None, says: str
) -> None:
    def snapshot_download(name: str, revision: str | None, allow_patterns: list[str]) -> str:
        error = ConnectionError()
        if status is not None:
            error.response = SimpleNamespace(status_code=status)  # type: ignore[attr-defined]
        raise error

    hub = SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    line = f"^no run folder somebody/a-model, and the Hugging Face Hub {says}$"
    with pytest.raises(VPRError, match=line):
        VPR.from_pretrained("somebody/a-model")
