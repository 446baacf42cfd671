"""Tasks in this process, or in several processes of this machine, of one thread each.

A process that dies (video decoders are written in C) is replaced, and only its task fails.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from vpr.executors.executor import (
    Done,
    Executor,
    Failed,
    JobProgress,
    Setup,
    TaskResults,
    Work,
    run_task,
)

POLL_INTERVAL = 0.2  # seconds between checks for stop requests


class ThisProcess(Executor):
    """Runs one task after the other in this process."""

    def _run(self, work: Work) -> TaskResults:
        run = work.setup()
        for number, task in enumerate(work.tasks):
            if work.stop_requests:
                return
            yield run_task(run, number, task, work.on_progress)


@dataclass(frozen=True)
class Processes(Executor):
    """Runs `workers` tasks at a time. With `reuse`, a process runs several, one after the other."""

    workers: int
    reuse: bool = True

    def _run(self, work: Work) -> TaskResults:
        waiting = work.numbered()
        working: dict[Connection, Worker] = {}
        handled = 0
        try:
            while working or (waiting and not work.stop_requests):
                while waiting and len(working) < self.workers and not work.stop_requests:
                    worker = Worker.start(work.setup)
                    working[worker.connection] = worker.assign(*waiting.pop())
                for connection in wait(list(working), POLL_INTERVAL):
                    worker = working[connection]  # type: ignore[index]
                    message = worker.receive()
                    if isinstance(message, JobProgress):
                        work.on_progress(message)
                        continue
                    del working[worker.connection]
                    again = self.reuse and not work.stop_requests and isinstance(message, Done)
                    if waiting and again:
                        working[worker.connection] = worker.assign(*waiting.pop())
                    else:
                        worker.end()
                    yield message
                if len(work.stop_requests) > handled:
                    for worker in working.values():
                        worker.process.kill() if handled else worker.process.terminate()
                    handled = len(work.stop_requests)
        finally:
            for worker in working.values():
                worker.process.terminate()
                worker.end()


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
    """Block SIGINT in processes that start here: all receive Ctrl-C, the parent handles it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by a child
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, setup: Setup) -> None:
    """Run tasks, in a worker process, until the connection closes."""
    from vpr.utils.threads import use_threads

    use_threads(1)
    run = setup()
    while True:
        try:
            number, task = connection.recv()
        except (EOFError, OSError):
            return
        _send(connection, run_task(run, number, task, partial(_send, connection)))


def _send(connection: Connection, message: JobProgress | Done | Failed) -> None:
    try:
        connection.send(message)
    except OSError:  # the parent is gone
        os.kill(os.getpid(), signal.SIGTERM)
