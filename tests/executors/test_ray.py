"""A real Ray cluster on this machine: two workers with a core each, one of which is killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from vpr.errors import VPRError
from vpr.executors.claims import Claimed, claimed, run_claimed
from vpr.executors.executor import Done, Failed, JobProgress, Report, Run, Setup
from vpr.executors.on_ray import RayCluster

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow  # starting a cluster takes many seconds


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for the workers: this file
        started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        started.add_node(num_cpus=1)
        patch.setenv("RAY_ADDRESS", started.address)
        yield
        ray.shutdown()
        started.shutdown()


def work(folder: Path, timeout: float) -> Setup:
    return partial(setup, folder, timeout)


def setup(folder: Path, timeout: float) -> Run:
    def run(task: str, report: Report) -> str | Claimed:
        if task == "wrong":
            raise VPRError("a mistake of the user")
        with claimed(folder / f"{task}.claim", timeout) as mine:
            if not mine:
                return Claimed.ELSEWHERE
            with (folder / f"{task}.started").open("a") as log:
                log.write(f"{os.getpid()}\n")
            report(1, 2, task)
            while task == "long" and not (folder / "killed").exists():
                time.sleep(0.1)
            if task == "deadly":
                os.kill(os.getpid(), signal.SIGKILL)
            return task

    return run


def kill_the_worker_of_long(folder: Path) -> None:
    """In a thread: kill the process that runs the task `long`, once."""
    started = folder / "long.started"
    while not started.exists() or not started.read_text().endswith("\n"):
        time.sleep(0.05)
    os.kill(int(started.read_text()), signal.SIGKILL)
    (folder / "killed").touch()


def test_a_killed_worker_loses_nothing(
    cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = ["a", "long", "wrong", *(str(number) for number in range(10))]
    shown: list[JobProgress] = []
    killer = threading.Thread(target=kill_the_worker_of_long, args=(tmp_path,), daemon=True)
    killer.start()
    ends = list(run_claimed(RayCluster(), tasks, partial(work, Path()), shown.append))
    killer.join(60)
    assert sorted(end.task for end in ends) == list(range(len(tasks)))
    for end in ends:
        name = tasks[end.task]
        wanted = Failed(end.task, "a mistake of the user") if name == "wrong" else None
        assert end == (wanted or Done(end.task, name))
    begun = {path.stem: path.read_text().split() for path in tmp_path.glob("*.started")}
    assert len(set(begun.pop("long"))) == 2  # the second time by another process
    assert {len(pids) for pids in begun.values()} == {1}
    assert JobProgress(1, 1, 2, "long") in shown
    assert not list(tmp_path.glob("*.claim"))


def test_a_task_that_kills_its_worker_fails_alone(cluster: None, tmp_path: Path) -> None:
    ends = {
        end.task: end
        for end in RayCluster(reuse=False).run(
            ["a", "deadly", "b"], work(tmp_path, 0.0), lambda now: None
        )
    }
    assert (ends[0], ends[2]) == (Done(0, "a"), Done(2, "b"))
    assert isinstance(ends[1], Failed)
    assert ends[1].code
    assert len((tmp_path / "deadly.started").read_text().split()) == 3  # Ray repeated it twice


def test_a_stop_request_ends_what_runs(cluster: None, tmp_path: Path) -> None:
    requests: list[int] = []
    ends = list(
        RayCluster(1).run(
            ["long", "never"], work(tmp_path, 0.0), lambda now: requests.append(1), requests
        )
    )
    assert [end.task for end in ends] == [0]
    assert isinstance(ends[0], Failed)
    assert not (tmp_path / "never.started").exists()


def test_no_cluster_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(VPRError, match="no Ray cluster answers"):
        list(RayCluster().run(["a"], partial(setup, Path(), 0.0), lambda now: None))
