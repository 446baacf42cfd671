"""Claims between processes: held, released, left by the dead, and no longer refreshed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vpr.executors import claims
from vpr.executors.claims import Claimed, claimed, run_claimed
from vpr.executors.executor import Done, Report, Run, Setup
from vpr.executors.processes import ThisProcess

SPAWN = multiprocessing.get_context("spawn")


def hold(path: Path, lease: float, started: Any) -> None:
    claims.LEASE_SECONDS = lease
    with claimed(path, 0.0) as mine:
        assert mine
        started.set()
        signal.pause()


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Another process that holds the claim `x`."""
    monkeypatch.setattr(claims, "LEASE_SECONDS", 1.5)
    started = SPAWN.Event()
    process = SPAWN.Process(target=hold, args=(tmp_path / "x", 1.5, started))
    process.start()
    assert started.wait(60)
    yield process
    process.kill()
    process.join()


def test_a_claim_is_exclusive_and_ends_with_the_block(tmp_path: Path) -> None:
    with claimed(tmp_path / "a" / "x", 0.0) as first, claimed(tmp_path / "a" / "x", 0.0) as second:
        assert (first, second) == (True, False)
    with claimed(tmp_path / "a" / "x", 0.0) as third:
        assert third
    assert list((tmp_path / "a").iterdir()) == []


def test_the_claim_of_a_dead_process_is_free_at_once(tmp_path: Path, owner: Any) -> None:
    owner.kill()
    owner.join()
    with claimed(tmp_path / "x", 0.0) as mine:
        assert mine


def test_a_claim_that_is_refreshed_is_kept_and_one_that_is_not_expires(
    tmp_path: Path, owner: Any
) -> None:
    with claimed(tmp_path / "x", 3.0) as mine:  # twice the lease
        assert not mine
    os.kill(owner.pid, signal.SIGSTOP)  # like a machine that is gone, it lives but is silent
    with claimed(tmp_path / "x", 4.0) as mine:
        assert mine


def work(folder: Path, timeout: float) -> Setup:
    return partial(setup, folder, timeout)


def setup(folder: Path, timeout: float) -> Run:
    def run(task: str, report: Report) -> str | Claimed:
        with claimed(folder / task, timeout) as mine:
            if not mine:
                return Claimed.ELSEWHERE
            if not (folder / f"{task}.done").exists():
                with (folder / f"{task}.log").open("a") as log:
                    log.write(f"{os.getpid()}\n")
                time.sleep(0.005)
                (folder / f"{task}.done").touch()
            return task

    return run


def everything(folder: Path, tasks: list[str], start: Any) -> None:
    start.wait(60)
    for end in run_claimed(ThisProcess(), tasks, partial(work, folder), lambda now: None):
        assert end == Done(end.task, tasks[end.task])


def test_commands_with_the_same_work_never_repeat_it(tmp_path: Path) -> None:
    tasks = [str(number) for number in range(100)]
    words = (tmp_path, tasks, SPAWN.Barrier(3))
    others = [SPAWN.Process(target=everything, args=words) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join(120)
        assert other.exitcode == 0
    logs = [path.read_text().splitlines() for path in tmp_path.glob("*.log")]
    assert Counter(map(len, logs)) == {1: 100}
    assert len({line for log in logs for line in log}) > 1  # the work was shared
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".log", ".done")]


def test_what_another_process_holds_is_left_to_it(
    tmp_path: Path, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "FINAL_TIMEOUT", 2.0)
    seen = []
    for end in run_claimed(ThisProcess(), ["x", "y"], partial(work, tmp_path), lambda now: None):
        seen.append(end)
        if end == Done(1, "y"):
            owner.kill()  # before the second attempt
            owner.join()
    assert seen == [Done(1, "y"), Done(0, "x")]


def test_what_is_still_held_at_the_end_is_reported(
    tmp_path: Path, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "FINAL_TIMEOUT", 0.5)
    ends = list(run_claimed(ThisProcess(), ["y", "x"], partial(work, tmp_path), lambda now: None))
    assert ends == [Done(0, "y"), Done(1, Claimed.ELSEWHERE)]
