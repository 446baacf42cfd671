"""The interface of all executors: run tasks, report progress, yield results as tasks end."""

from __future__ import annotations

import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from vpr.errors import VPRError

Report = Callable[[int, int | None, str], None]  # done, total if known, note
Run = Callable[[Any, Report], Any]  # (task, report) → result
Setup = Callable[[], Run]

Item = TypeVar("Item")


class JobProgress(NamedTuple):
    """Progress of one task."""

    task: int  # its index
    done: int
    total: int | None
    note: str


class Done(NamedTuple):
    """A task that ended with a result."""

    task: int
    result: Any


class Failed(NamedTuple):
    """A task that ended with a VPRError (`code` is None), or whose process ended with `code`."""

    task: int
    message: str
    code: int | None = None


OnProgress = Callable[[JobProgress], None]
TaskResults = Generator[Done | Failed, None, None]


class Work(NamedTuple):
    """Tasks, and how to run them; see `Executor.run`."""

    tasks: Sequence[Any]
    setup: Setup
    on_progress: OnProgress
    stop_requests: Sequence[int]

    def numbered(self) -> list[tuple[int, Any]]:
        """The tasks with their indices, in reverse order: `pop` returns the first."""
        return list(enumerate(self.tasks))[::-1]


class Executor(ABC):
    """Runs tasks in this process, in several, or on several machines."""

    def run(
        self,
        tasks: Sequence[Any],
        setup: Setup,
        on_progress: OnProgress,
        stop_requests: Sequence[int] = (),
    ) -> TaskResults:
        """Run all tasks, and yield each when it ends.

        `setup` runs once in each process and returns the function that runs a task. It is pickled,
        as are the tasks. After the first stop request, no further task starts and running tasks
        are asked to stop; after the second they are killed.
        """
        return self._run(Work(tasks, setup, on_progress, stop_requests))

    @abstractmethod
    def _run(self, work: Work) -> TaskResults: ...


def run_task(run: Run, number: int, task: Any, on_progress: OnProgress) -> Done | Failed:
    """Run a task; a `VPRError` becomes a `Failed`."""

    def report(done: int, total: int | None, note: str) -> None:
        on_progress(JobProgress(number, done, total, note))

    try:
        return Done(number, run(task, report))
    except VPRError as error:
        return Failed(number, str(error))


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collect SIGINT, SIGTERM and SIGHUP in a list instead of acting on them."""
    received: list[int] = []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    before = {n: signal.signal(n, lambda number, frame: received.append(number)) for n in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Shard(NamedTuple):
    """One of several parts, counted from 1."""

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise VPRError(f"shard must be of the form 3/16, from 1/16 to 16/16, got {text!r}")
        return cls(int(found[1]), int(found[2]))

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Every item is in exactly one shard, if all shards are given the same list."""
        return list(items[self.number - 1 :: self.parts])
