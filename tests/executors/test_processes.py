"""Tasks in processes: results, progress, failures, dead processes and stop requests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial

import pytest

from vpr.errors import VPRError
from vpr.executors.executor import Done, Failed, JobProgress, Report, stop_signals
from vpr.executors.processes import Processes, ThisProcess


def make_runner(kind: str) -> Callable[[str, Report], str]:
    return partial(run, kind)


def run(kind: str, task: str, report: Report) -> str:
    report(1, None, task)
    if task == "wrong":
        raise VPRError("a mistake of the user")
    if task == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "slow":
        time.sleep(60)
    return f"{kind} {task} {os.getpid()}"


def test_each_task_ends_once() -> None:
    tasks = ["a", "wrong", "b", "deadly", "c"]
    shown: list[JobProgress] = []
    ended = {
        end.task: end for end in Processes(2).run(tasks, partial(make_runner, "ran"), shown.append)
    }
    assert sorted((now.task, now.note) for now in shown) == list(enumerate(tasks))
    assert ended[1] == Failed(1, "a mistake of the user")
    assert ended[3] == Failed(3, "its process ended with code -9", -9)
    for number in (0, 2, 4):
        end = ended[number]
        assert isinstance(end, Done)
        assert end.result.startswith(f"ran {tasks[number]} ")


@pytest.mark.parametrize(("reuse", "processes"), [(True, 1), (False, 3)])
def test_a_process_for_several_tasks_or_one(reuse: bool, processes: int) -> None:
    ends = Processes(1, reuse).run("abc", partial(make_runner, "x"), lambda now: None)
    results = [end.result for end in ends if isinstance(end, Done)]
    assert [result.split()[1] for result in results] == list("abc")
    assert len({result.split()[2] for result in results}) == processes


def test_a_stop_request_ends_what_runs_and_starts_nothing() -> None:
    requests: list[int] = []
    ends = Processes(1).run(
        ["slow", "never"], partial(make_runner, "x"), lambda now: requests.append(1), requests
    )
    assert list(ends) == [Failed(0, "its process ended with code -15", -15)]


def test_in_this_process() -> None:
    shown: list[JobProgress] = []
    ends = ThisProcess().run(["a", "wrong", "b"], partial(make_runner, "ran"), shown.append)
    mine = os.getpid()
    assert list(ends) == [
        Done(0, f"ran a {mine}"),
        Failed(1, "a mistake of the user"),
        Done(2, f"ran b {mine}"),
    ]
    assert [now.task for now in shown] == [0, 1, 2]


def test_stop_signals_are_collected_and_handlers_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_signals() as received:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
    assert received == [signal.SIGTERM, signal.SIGINT]
    assert signal.getsignal(signal.SIGTERM) is before
