"""`vpr bench learn`: the time of training until all levels find the changes of their factors."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import torch

from benchmarks.timing import Bar
from vpr.config import RunConfig, make_rule
from vpr.errors import VPRError
from vpr.experiments.runner.inspect_training import inspect_model
from vpr.training.loop import train
from vpr.training.session import Session

TARGET = 0.95  # F1 of each level from 2 to N


def bench_learn(config: RunConfig, every: int, bar: Bar) -> dict[str, Any]:
    """Train until the F1 of all levels reaches the target, or to the end; time and scores.

    The model is evaluated every `every` steps, with its own criteria whatever the stage uses, and
    the time of that does not count.
    """
    with TemporaryDirectory() as folder, bar(config.training.steps) as advance:
        log = _Log(config, every)

        def inspect(session: Session) -> None:
            log(session)
            advance(session.step, log.note)

        with suppress(_Reached):
            outcome = train(config, Path(folder) / "run", inspect=inspect)
            if outcome.interrupted:
                raise KeyboardInterrupt
    return {
        "preset": config.preset,
        "seed": config.seed,
        "threads": torch.get_num_threads(),
        "target": TARGET,
        "reached": log.reached(),
        **log.lines[-1],
        "evaluations": log.lines,
    }


class _Reached(Exception):  # noqa: N818 (it ends the training, and is no error)
    """All levels have reached the target."""


class _Log:
    """Scores of the model during training, and the time of training without that of scoring."""

    def __init__(self, config: RunConfig, every: int) -> None:
        self.config, self.every, self.rule = config, every, make_rule(config.model)
        self.lines: list[dict[str, Any]] = []
        self.note = "training"
        self.seconds = self.cpu_seconds = 0.0
        self._resume()

    def __call__(self, session: Session) -> None:
        if session.step % self.every and not session.is_finished:
            return
        self.seconds += perf_counter() - self._clock
        self.cpu_seconds += process_time() - self._cpu
        levels = inspect_model(session.model, self.rule, self.config.data)
        if any("f1" not in level for level in levels.values()):
            raise VPRError(f"{self.config.data.name} has no labels: choose another --preset")
        f1 = {n: level["f1"] for n, level in levels.items()}
        times = {"seconds": self.seconds, "core_minutes": self.cpu_seconds / 60}
        self.lines.append({"step": session.step, **times, "f1": f1})
        self.note = "F1 " + " ".join(f"{value:.2f}" for value in f1.values())
        if self.reached():
            raise _Reached
        self._resume()

    def reached(self) -> bool:
        return bool(self.lines) and min(self.lines[-1]["f1"].values(), default=0.0) >= TARGET

    def _resume(self) -> None:
        self._clock, self._cpu = perf_counter(), process_time()
