"""Training that is resumed from damaged files, and training on a full disk."""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.conftest import tiny_run
from vpr import VPRError
from vpr.training.checkpoint import Checkpoint, RunFolder, save_checkpoint
from vpr.training.loop import train
from vpr.training.metrics import StepLog
from vpr.utils import files

CONFIG = tiny_run(steps=6)
Log = pytest.LogCaptureFixture


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Stopped at step 4; the checkpoint before that is of step 2."""
    train(CONFIG, tmp_path / "run", until=4)
    return tmp_path / "run"


def steps(run: Path) -> list[int]:
    names = ("training.safetensors", "previous.safetensors")
    return [RunFolder(run).load(run / name).notes["step"] for name in names]


def test_the_previous_checkpoint_is_kept(run: Path) -> None:
    assert steps(run) == [4, 2]


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_a_damaged_checkpoint_falls_back_to_the_previous_one(
    run: Path, damage: str, caplog: Log
) -> None:
    path = run / "training.safetensors"
    path.write_bytes(path.read_bytes()[:1000]) if damage == "cut" else path.unlink()
    seen: list[int] = []
    assert train(CONFIG, run, on_step=lambda now: seen.append(now.step)).finished
    assert seen == [3, 4, 5, 6]
    told = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert damage == "missing" or ("truncated" in told[0] and "previous.safetensors" in told[0])
    whole = run.with_name("whole")
    train(CONFIG, whole)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    lines = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert lines == [1, 2, 3, 4, 5, 6]


def test_if_both_are_damaged_the_first_is_named(run: Path) -> None:
    for name in ("training.safetensors", "previous.safetensors"):
        (run / name).write_bytes(b"x")
    with pytest.raises(VPRError, match=r"training\.safetensors is truncated"):
        train(CONFIG, run)


def test_files_of_a_killed_process_are_removed(run: Path) -> None:
    (run / "model.safetensors.0123.partial").write_bytes(b"x" * 100)
    train(CONFIG, run)
    assert not list(run.glob("*.partial"))


def first(tensors: dict[str, Tensor], part: str) -> str:
    return next(name for name in sorted(tensors) if part in name)


def changed(part: str, change: Callable[[Tensor], Tensor]) -> Callable[[Checkpoint], None]:
    def apply(checkpoint: Checkpoint) -> None:
        name = first(checkpoint.tensors, part)
        checkpoint.tensors[name] = change(checkpoint.tensors[name])

    return apply


def noted(**notes: object) -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.notes.update(notes)


MUTATIONS: dict[str, Callable[[Checkpoint], None]] = {
    "weight of another shape": changed("model.", lambda t: t[..., None]),
    "weight of NaN": changed("weight", lambda t: t * torch.nan),
    "weight of integers": changed("weight", lambda t: t.int()),
    "Adam of another shape": changed("exp_avg", lambda t: t[..., None]),
    "Adam below zero": changed("exp_avg_sq", lambda t: t - 1),
    "Adam of infinite step": changed(".step", lambda t: t + torch.inf),
    "window too short": changed("window.2.values", lambda t: t[:, 1:]),
    "window of NaN": changed("window.2.values", lambda t: t * torch.nan),
    "window pushed less than nothing": changed("pushed", lambda t: t - 10**6),
    "generator cut short": changed("noise", lambda t: t[1:]),
    "generator of zeros": changed("noise", lambda t: t * 0),
    "generator of ones": changed("chance", lambda t: t * 0 + 255),
    "no window": lambda c: c.tensors.update(other=c.tensors.pop("window.2.values")),
    "no generator": lambda c: c.tensors.update(other=c.tensors.pop("noise")),
    "one tensor more": lambda c: c.tensors.update(wings=torch.zeros(2)),
    "step of text": noted(step="4"),
    "step that is true": noted(step=True),
    "step below zero": noted(step=-1),
    "step beyond the end": noted(step=10**18),
    "no data": noted(data=None),
    "data of text": noted(data="x"),
    "data of another generator": noted(data={"bit_generator": "MT19937", "state": {}}),
    "data without numbers": noted(data={"bit_generator": "PCG64", "state": {"state": "x"}}),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_altered_checkpoints_with_a_right_checksum_are_one_line(run: Path, mutation: str) -> None:
    folder = RunFolder(run)
    checkpoint = folder.load()
    MUTATIONS[mutation](checkpoint)
    save_checkpoint(run / "training.safetensors", checkpoint)
    (run / "previous.safetensors").unlink()
    with pytest.raises(VPRError, match="checkpoint") as error:
        train(CONFIG, run)
    assert len(str(error.value).splitlines()) == 1


def test_one_wrong_byte_in_the_metrics_does_not_matter(run: Path) -> None:
    path = run / "metrics.jsonl"
    content = bytearray(path.read_bytes())
    content[10] = 0xFF
    path.write_bytes(content)
    assert train(CONFIG, run).finished
    lines = [json.loads(line)["step"] for line in path.read_text().splitlines()]
    assert lines[-5:] == [2, 3, 4, 5, 6]


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_metrics_on_a_full_disk_save_a_checkpoint_first(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StepLog, "push", full)
    words = r"metrics into .*run.*no room left on the disk; a checkpoint of step 5 was saved"
    with pytest.raises(VPRError, match=words):
        train(CONFIG, run)
    assert steps(run) == [5, 4]
    monkeypatch.undo()
    assert train(CONFIG, run).finished


def test_a_full_disk_gives_up_the_previous_checkpoint_for_the_next(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def room_for_one(descriptor: int) -> None:
        if (run / "previous.safetensors").exists():
            full()

    monkeypatch.setattr(files.os, "fsync", room_for_one)
    folder = RunFolder(run)
    session = folder.load()
    session.notes["step"] = 5
    from vpr.pretrained import load_model

    folder.save(load_model(run), session)
    assert steps(run) == [5, 4]


def test_a_full_disk_names_the_path_and_keeps_the_checkpoint(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (run / "training.safetensors").read_bytes()
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(VPRError, match=r"cannot write .*run.*: no room left on the disk"):
        train(CONFIG, run)
    assert (run / "training.safetensors").read_bytes() == before
