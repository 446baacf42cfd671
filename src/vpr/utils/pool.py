"""Tasks in several processes of one thread each.

A process that dies (video decoders are written in C) is replaced, and only its task fails.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from vpr.errors import VPRError

POLL = 0.2  # seconds between checks for stop requests

Report = Callable[[int, int | None, str], None]  # done, total if known, note
Setup = Callable[[], Callable[[Any, Report], Any]]  # returns (task, report) → result


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


def run_tasks(
    tasks: Sequence[Any],
    setup: Setup,
    workers: int,
    on_progress: Callable[[JobProgress], None],
    *,
    reuse: bool = True,
    stop_requests: Sequence[int] = (),
) -> Generator[Done | Failed, None, None]:
    """Run all tasks, `workers` at a time, and yield them in the order in which they end.

    `setup` runs once in each process and gives the function that runs a task. With `reuse`, a
    process runs several tasks one after the other. After the first stop request no task starts and
    the processes get SIGTERM; after the second they are killed.
    """
    waiting = list(enumerate(tasks))[::-1]
    working: dict[Connection, Worker] = {}
    handled = 0
    try:
        while working or (waiting and not stop_requests):
            while waiting and len(working) < workers and not stop_requests:
                worker = Worker.start(setup)
                working[worker.connection] = worker.assign(*waiting.pop())
            for connection in wait(list(working), POLL):
                worker = working[connection]  # type: ignore[index]
                message = worker.receive()
                if isinstance(message, JobProgress):
                    on_progress(message)
                    continue
                del working[worker.connection]
                if waiting and reuse and not stop_requests and isinstance(message, Done):
                    working[worker.connection] = worker.assign(*waiting.pop())
                else:
                    worker.end()
                yield message
            if len(stop_requests) > handled:
                for worker in working.values():
                    worker.process.kill() if handled else worker.process.terminate()
                handled = len(stop_requests)
    finally:
        for worker in working.values():
            worker.process.terminate()
            worker.end()


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


class Worker(NamedTuple):
    """A process, the connection to it, and the index of its task."""

    process: SpawnProcess
    connection: Connection
    task: int = -1

    @classmethod
    def start(cls, setup: Setup) -> Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, setup))
        with _without_interrupts():
            process.start()
        theirs.close()  # so that the connection ends with the process
        return cls(process, ours)

    def assign(self, number: int, task: Any) -> Worker:
        with suppress(OSError):  # the process is dead, as `receive` will find
            self.connection.send((number, task))
        return self._replace(task=number)

    def receive(self) -> JobProgress | Done | Failed:
        try:
            message: JobProgress | Done | Failed = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            return Failed(self.task, f"its process ended with code {code}", code)
        return message

    def end(self) -> None:
        self.connection.close()  # an idle process ends with its connection
        self.process.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT in processes start here: Ctrl-C goes to all, and the parent handles it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by a child
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, setup: Setup) -> None:
    """Run tasks in a process of its own until the connection closes."""
    from vpr.utils.threads import use_threads

    use_threads(1)
    run = setup()
    while True:
        try:
            number, task = connection.recv()
        except (EOFError, OSError):
            return
        _send(connection, _result(run, number, task, connection))


def _result(
    run: Callable[[Any, Report], Any], number: int, task: Any, connection: Connection
) -> Done | Failed:
    def report(done: int, total: int | None, note: str) -> None:
        _send(connection, JobProgress(number, done, total, note))

    try:
        return Done(number, run(task, report))
    except VPRError as error:
        return Failed(number, str(error))


def _send(connection: Connection, message: JobProgress | Done | Failed) -> None:
    try:
        connection.send(message)
    except OSError:  # the parent is gone
        os.kill(os.getpid(), signal.SIGTERM)
