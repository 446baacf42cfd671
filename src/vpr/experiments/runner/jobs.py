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
from vpr.experiments.runner.base import Advance, Stopped

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
    with _asked_to_stop() as asked:
        heard = 0
        while running or (waiting and not asked):
            while waiting and len(running) < jobs and not asked:
                number, job = waiting.pop(0)
                process = context.Process(target=_work, args=(number, job, news))
                _start(process)
                running[number] = process
            for number, words in _listen(news, show):
                failed[todo[number].title] = words
            if len(asked) > heard:
                _stop_all(running, at_once=heard > 0)
                heard = len(asked)
            for number in [n for n, process in running.items() if not process.is_alive()]:
                code = running.pop(number).exitcode
                if code not in (0, STOPPED) and not asked:
                    failed.setdefault(todo[number].title, f"its process ended with code {code}")
        stopped = bool(asked)
    for number, words in _listen(news, show):
        failed[todo[number].title] = words
    return Ending(failed, stopped)


def _start(process: SpawnProcess) -> None:
    """A terminal's Ctrl-C goes to every process; a run leaves it to its parent, who asks once."""
    if not hasattr(signal, "pthread_sigmask"):
        return process.start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a child takes this over
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop_all(running: dict[int, SpawnProcess], at_once: bool) -> None:
    """Ask every run to save and stop; when asked again, stop it as it is."""
    for process in running.values():
        if at_once:
            process.kill()
        else:
            process.terminate()


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

    def advance(done: int, total: int, note: str) -> None:
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():
            os.kill(os.getpid(), signal.SIGTERM)  # nobody waits for us: save and stop
        news.put(Tidings(number, done, total, note))

    try:
        signal.signal(signal.SIGTERM, _stop)  # until training listens for itself
        _measure(job, advance)
    except Stopped:
        raise SystemExit(STOPPED) from None
    except VPRError as error:
        news.put((number, str(error)))
        raise SystemExit(1) from None


def _measure(job: Job, advance: Advance) -> None:
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.store import save
    from vpr.utils.threads import use_threads

    use_threads(1)
    measured = EXPERIMENTS[job.experiment].measure(job.config, job.seed, job.runs, advance)
    save(job.path, job.config, job.seed, measured)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """The signals that came in the meantime: Ctrl-C, SIGTERM, and a terminal that was closed."""
    asked: list[int] = []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    before = {n: signal.signal(n, lambda number, frame: asked.append(number)) for n in numbers}
    try:
        yield asked
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
