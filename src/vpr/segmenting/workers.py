"""Several processes side by side, each with the model loaded once.

A process that dies of a file (decoders are written in C) is replaced, and its file has failed.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import NamedTuple

from vpr.model import VPR
from vpr.segmenting.batch import Outcome, Wish, carry_out
from vpr.segmenting.targets import Target

Show = Callable[[int, int, int | None], None]  # place in the list, frames done, frames expected


def run_here(
    targets: Sequence[Target], wish: Wish, model: VPR, show: Show
) -> Iterator[tuple[int, Outcome]]:
    """One after the other in this process; each by its place in the list."""
    stamps = wish.stamps(model)
    for number, target in enumerate(targets):

        def watch(done: int, expected: int | None, number: int = number) -> None:
            show(number, done, expected)

        yield number, carry_out(target, wish, model, stamps, watch)


def run_side_by_side(
    targets: Sequence[Target], wish: Wish, jobs: int, show: Show
) -> Iterator[tuple[int, Outcome]]:
    """The same in `jobs` processes of one thread each, in the order in which they end."""
    waiting = list(enumerate(targets))[::-1]
    working: dict[Connection, Worker] = {}
    try:
        while waiting or working:
            while waiting and len(working) < jobs:
                worker = Worker.started(wish)
                working[worker.line] = worker.given(*waiting.pop())
            for line in wait(list(working)):
                worker = working[line]  # type: ignore[index]
                told = worker.news()
                if not isinstance(told, Outcome):
                    show(worker.number, *told)
                    continue
                yield worker.number, told
                del working[worker.line]
                if waiting and worker.process.is_alive():
                    working[worker.line] = worker.given(*waiting.pop())
                else:
                    worker.end()
    finally:
        for worker in working.values():
            worker.end()


class Worker(NamedTuple):
    """A process, the line to it, and what it is at."""

    process: SpawnProcess
    line: Connection
    number: int = -1
    source: str = ""

    @classmethod
    def started(cls, wish: Wish) -> Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, wish), daemon=True)
        process.start()
        theirs.close()  # so that the line ends with the process
        return cls(process, ours)

    def given(self, number: int, target: Target) -> Worker:
        with suppress(OSError):  # it is dead already, as `news` will find
            self.line.send(target)
        return self._replace(number=number, source=target.source)

    def news(self) -> tuple[int, int | None] | Outcome:
        try:
            told: tuple[int, int | None] | Outcome = self.line.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            words = f"{self.source}: the process that read it ended with code {code}"
            return Outcome(self.source, "failed", trouble=words)
        return told

    def end(self) -> None:
        self.line.close()
        self.process.terminate()
        self.process.join()


def _serve(line: Connection, wish: Wish) -> None:
    """In a process of its own: one target after the other, until nobody asks any more."""
    from vpr.utils.threads import use_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; our parent sees to it
    use_threads(1)
    model = wish.checked()
    stamps = wish.stamps(model)
    try:
        while True:
            target = line.recv()

            def watch(done: int, expected: int | None) -> None:
                line.send((done, expected))

            line.send(carry_out(target, wish, model, stamps, watch))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
