"""Two processes train like one with the whole batch, stop together, and resume with one or two."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.training.distributed_run import config
from vpr import VPRError
from vpr.events import RandomUpdates, Subjective
from vpr.training.checkpoint import RunFolder
from vpr.training.distributed import PROCESS_LOST, ProcessGroup
from vpr.training.loop import train
from vpr.utils.files import step_lines

ROOT = Path(__file__).parents[2]
Ended = subprocess.CompletedProcess[str]


def run(out: Path, until: int, devices: int, *launcher: str, **environment: str) -> Ended:
    module = ("-m", "tests.training.distributed_run")
    words = [sys.executable, *launcher, *module, str(out), str(until), str(devices)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    variables = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"} | environment
    return subprocess.run(words, capture_output=True, text=True, timeout=1800, env=variables)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 steps of one process with the whole batch."""
    out = tmp_path_factory.mktemp("alone") / "run"
    train(config(), out)
    return out


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same by two processes, the last six steps after a stop and by one."""
    out = tmp_path_factory.mktemp("pair") / "run"
    ended = run(out, 14, 2)
    assert (ended.returncode, ended.stdout) == (0, "steps 1 to 14\n"), ended.stderr
    ended = run(out, 20, 1)
    assert (ended.returncode, ended.stdout) == (0, "steps 15 to 20\n"), ended.stderr
    return out


def tensors(folder: Path) -> dict[str, Tensor]:
    return RunFolder(folder).load().tensors


@pytest.mark.slow
def test_two_processes_match_one_with_the_whole_batch(alone: Path, pair: Path) -> None:
    one, two = tensors(alone), tensors(pair)
    assert one.keys() == two.keys()
    for name in one:
        same = torch.allclose(one[name].double(), two[name].double(), rtol=1e-3, atol=1e-5)
        assert same, name
    for name in ("noise", "chance", "selection"):  # the random generators
        assert torch.equal(one[name], two[name])
    ours, theirs = step_lines(alone / "metrics.jsonl"), step_lines(pair / "metrics.jsonl")
    assert [line["step"] for line in theirs] == list(range(1, 21))
    for a, b in zip(ours, theirs, strict=True):
        assert b["loss"] == pytest.approx(a["loss"], rel=1e-4)
        assert b["update_rate"] == pytest.approx(a["update_rate"])


@pytest.mark.slow
def test_one_process_then_two_under_torchrun(alone: Path, tmp_path: Path) -> None:
    train(config(), tmp_path / "run", until=10)
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    ended = run(tmp_path / "run", 20, 2, *launcher)
    assert ended.returncode == 0, ended.stderr
    assert "steps 11 to 20" in ended.stdout
    one, two = tensors(alone), tensors(tmp_path / "run")
    for name in (name for name in one if name.startswith(("model.", "window."))):
        same = torch.allclose(one[name].double(), two[name].double(), rtol=1e-3, atol=1e-5)
        assert same, name


@pytest.mark.slow
@pytest.mark.parametrize("rank", ["0", "1"])
def test_if_one_dies_all_stop_and_the_run_can_be_resumed(tmp_path: Path, rank: str) -> None:
    ended = run(tmp_path / "run", 20, 2, DYING_RANK=rank)
    assert ended.returncode != 0
    errors = [line for line in ended.stderr.splitlines() if line.startswith("vpr: ")]
    assert errors == [f"vpr: {PROCESS_LOST}"]
    assert "Traceback" not in ended.stderr
    assert RunFolder(tmp_path / "run").load().notes["step"] == 6
    again = train(config(), tmp_path / "run", until=8)
    assert again.step == 8


@pytest.mark.slow
def test_errors_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    for out, batch, words in (
        (tmp_path / "other", "8", "is not a run and not empty"),
        (tmp_path / "run", "9", "cannot be divided among 2 processes"),
    ):
        ended = run(out, 20, 2, BATCH=batch)
        assert ended.returncode == 2
        assert ended.stderr.count("vpr: ") == ended.stderr.count(words) == 1, ended.stderr
        assert "Traceback" not in ended.stderr


def test_numbers_of_devices() -> None:
    with pytest.raises(VPRError, match="1 or more, got 0 and 1"):
        ProcessGroup("cpu", devices=0)
    with pytest.raises(VPRError, match="'cuda' is not available"):
        ProcessGroup("cuda")


class Part(ProcessGroup):
    """One of two processes, without the processes."""

    def __init__(self, rank: int) -> None:
        super().__init__("cpu")
        self.rank, self.size = rank, 2


@pytest.mark.parametrize("kind", ["rows", "frames", "random updates"])
def test_the_parts_are_the_whole(kind: str) -> None:
    if kind == "rows":
        whole = torch.arange(24).view(3, 8)
        parts = [Part(rank).shard(whole, axis=1) for rank in (0, 1)]
        assert torch.equal(torch.cat(parts, 1), whole)
    elif kind == "frames":
        frames = torch.tensor([0, 2, 4, 3, 7, 6, 9, 10])  # 2 of each of 4 sequences of 3
        first, second = (Part(rank).shard_frames(frames, 4, 3) for rank in (0, 1))
        assert first is not None
        assert second is not None
        assert first.tolist() == [0, 2, 4, 3]
        assert (second + 6).tolist() == [7, 6, 9, 10]
    else:
        drawn = []
        for rank in (0, 1):
            rule = RandomUpdates(Subjective(), 0.5, torch.Generator().manual_seed(3))
            parts_rule = Part(rank).local_rule(rule, 8, 5, 3)
            assert isinstance(parts_rule, RandomUpdates)
            drawn.append(
                [parts_rule.draw(n, torch.full((4,), t)) for t in range(1, 5) for n in (2, 3)]
            )
        rule = RandomUpdates(Subjective(), 0.5, torch.Generator().manual_seed(3))
        for first, second in zip(*drawn, strict=True):
            wanted = rule.draw(2, torch.zeros(8, dtype=torch.long))
            assert torch.equal(torch.cat([first, second]), wanted)
