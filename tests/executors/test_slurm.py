"""The Slurm executor, with submitit's own local processes in place of Slurm's jobs."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from vpr.errors import VPRError
from vpr.executors import on_slurm
from vpr.executors.executor import Done, Failed, JobProgress, Report, Run
from vpr.executors.on_slurm import SlurmCluster

pytest.importorskip("submitit")


def setup(kind: str) -> Run:
    def run(task: str, report: Report) -> str:
        if task == "wrong":
            raise VPRError("a mistake of the user")
        if task == "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{kind} {task}"

    return run


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlurmCluster:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return SlurmCluster(tmp_path / "logs", cluster="local")


def test_jobs_of_several_tasks_and_one_that_dies(
    cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_slurm, "MAX_ARRAY_SIZE", 2)
    tasks = ["a", "b", "wrong", "deadly"]  # jobs: (a, wrong) and (b, deadly)
    shown: list[JobProgress] = []
    ends = {end.task: end for end in cluster.run(tasks, partial(setup, "ran"), shown.append)}
    assert ends.keys() == set(range(4))
    assert ends[0] == Done(0, "ran a")
    assert ends[2] == Failed(2, "a mistake of the user")
    for number in (1, 3):  # what the dead job had finished is found by the next command
        end = ends[number]
        assert isinstance(end, Failed)
        assert end.code
        assert "its messages are in" in end.message
    assert {now.task for now in shown} == {0, 1, 2, 3}


def test_nothing_to_do(cluster: SlurmCluster) -> None:
    assert list(cluster.run([], partial(setup, "ran"), lambda now: None)) == []


@pytest.mark.skipif(shutil.which("srun") is not None, reason="this machine has Slurm")
def test_no_slurm_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(VPRError, match=r"Slurm did not accept the jobs.*srun"):
        list(SlurmCluster(tmp_path).run(["a"], partial(setup, "x"), lambda now: None))
