"""A log of measurements during training, and the record of a finished run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.experiments.runner.experiment import Advance, Stopped
from vpr.training.loop import Progress
from vpr.training.metrics import StepLog
from vpr.training.session import Session
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance

RECORD = "record.json"
Lines = list[dict[str, Any]]  # of a log, each with `step` and `seconds`


class PeriodicLog:
    """Logs what `measure` returns every `every` steps and at the last step, also of resumed runs.

    Each line also has the `step` and the `seconds` since the start of training, including those of
    the measurements.
    """

    def __init__(self, path: Path, every: int, measure: Callable[[Session], dict[str, Any]]):
        self.path, self.every, self.measure = path, every, measure
        self.log: StepLog | None = None
        self.start = perf_counter()

    def __call__(self, session: Session) -> None:
        if self.log is None:
            self.log = StepLog(self.path, session.step - 1)
            earlier = self.lines()  # up to the last checkpoint of an interrupted run
            self.start -= earlier[-1]["seconds"] if earlier else 0.0
        if session.step % self.every == 0 or session.step == session.last():
            found = self.measure(session)
            seconds = perf_counter() - self.start
            self.log.push({"step": session.step, "seconds": seconds} | found)

    def lines(self) -> Lines:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def close(self) -> None:
        if self.log is not None:
            self.log.close()


def record_run(
    config: Any,
    log: PeriodicLog,
    advance: Advance,
    train: Callable[..., Any],
    summarise: Callable[[Path, Lines], dict[str, Any]],
) -> dict[str, Any]:
    """The record of the run whose folder holds the log; the run is trained unless it is finished.

    The record has what `summarise` returns for the folder and the lines of the log, the `seconds`
    of training, and its `provenance`.
    """
    folder = log.path.parent
    path = folder / RECORD
    if not path.exists():
        lines = _train_with_log(train, config, folder, log, advance)
        rest = {"seconds": lines[-1]["seconds"], "provenance": provenance()}
        write_json(path, summarise(folder, lines) | rest)
    return read_json(path)  # type: ignore[no-any-return]


def _train_with_log(
    train: Callable[..., Any], config: Any, folder: Path, log: PeriodicLog, advance: Advance
) -> Lines:
    """Train to the last step and return the lines of the log; `Stopped` if interrupted."""

    def on_step(now: Progress) -> None:
        rates = " ".join(f"{rate:.2f}" for rate in now.update_rate)
        advance(now.step, now.steps, f"{now.stage}: loss {now.loss:.1f} updates {rates}")

    outcome = train(config, folder, on_step=on_step, inspect=log)
    log.close()
    if not outcome.finished:
        raise Stopped
    return log.lines()
