"""Runs side by side, each in a process of its own on one thread; a stopped run goes on later."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from vpr.errors import VPRError
from vpr.experiments.base import Stopped

STOPPED = 130  # exit code of a run that was asked to stop


class Job(NamedTuple):
    """One run that is still to be done. A process of its own looks the experiment up by name."""

    experiment: str
    variant: str
    seed: int
    config: Any
    path: Path  # of the result
    runs: Path  # where run folders are

    @property
    def title(self) -> str:
        return f"{self.experiment} {self.variant} seed {self.seed}"


class Tidings(NamedTuple):
    """How a job is doing."""

    job: int
    done: int
    total: int
    note: str


class Ending(NamedTuple):
    failed: dict[str, str]  # title of the job → what went wrong
    stopped: bool


def run_jobs(todo: list[Job], jobs: int, show: Callable[[Tidings], None]) -> Ending:
    """All of them, `jobs` at a time, in their order. After Ctrl-C or SIGTERM no new one starts."""
    context = multiprocessing.get_context("spawn")
    news: Any = context.Queue()
    waiting, running = list(enumerate(todo)), dict[int, SpawnProcess]()
    failed: dict[str, str] = {}
    with _stop_signal(running) as stopped:
        while running or (waiting and not stopped()):
            while waiting and len(running) < jobs and not stopped():
                number, job = waiting.pop(0)
                running[number] = context.Process(target=_work, args=(number, job, news))
                running[number].start()
            for number, words in _listen(news, show):
                failed[todo[number].title] = words
            for number in [n for n, process in running.items() if not process.is_alive()]:
                code = running.pop(number).exitcode
                if code not in (0, STOPPED) and not stopped():
                    failed.setdefault(todo[number].title, f"its process ended with code {code}")
    for number, words in _listen(news, show):
        failed[todo[number].title] = words
    return Ending(failed, stopped())


def _listen(news: Any, show: Callable[[Tidings], None]) -> Iterator[tuple[int, str]]:
    """Hand on what the runs tell, for up to a fifth of a second; the failures come back."""
    wait = 0.2
    while True:
        try:
            told = news.get(timeout=wait)
        except queue.Empty:
            return
        wait = 0.0
        if isinstance(told, Tidings):
            show(told)
        else:
            yield told


def _work(number: int, job: Job, news: Any) -> None:
    """In the run's own process."""
    from vpr.cli.threads import use_threads
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.store import save

    if hasattr(os, "setpgrp"):
        os.setpgrp()  # a terminal's Ctrl-C goes to the parent alone, which asks us once
    signal.signal(signal.SIGTERM, _stop)  # until training listens for itself
    use_threads(1)

    def advance(done: int, total: int, note: str) -> None:
        news.put(Tidings(number, done, total, note))

    try:
        measure = EXPERIMENTS[job.experiment].measure
        measured = measure(job.config, job.seed, job.runs, advance)
        save(job.path, job.config, job.seed, measured)
    except Stopped:
        raise SystemExit(STOPPED) from None
    except VPRError as error:
        news.put((number, str(error)))
        raise SystemExit(1) from None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped


@contextmanager
def _stop_signal(running: dict[int, SpawnProcess]) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C or SIGTERM asks every run to save and stop; a second one stops at once."""
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if asked:
            for process in running.values():
                process.kill()
        asked.append(number)
        for process in running.values():
            process.terminate()

    before = {n: signal.signal(n, ask) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
