"""Run experiments in parallel, one process per run."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from vpr.experiments.runner.base import Advance, Stopped
from vpr.utils.pool import Failed, JobProgress, run_tasks, stop_signals

STOPPED = 130  # exit code of an interrupted run


class Job(NamedTuple):
    """One run. The experiment is given by name so that a job can be sent to another process."""

    experiment: str
    variant: str
    seed: int
    config: Any
    path: Path  # file of the result
    runs: Path  # folder of run folders

    @property
    def title(self) -> str:
        return f"{self.experiment} {self.variant} seed {self.seed}"


class Outcome(NamedTuple):
    """How a list of jobs ended."""

    failed: dict[str, str]  # title of the job → error message
    stopped: bool


def run_jobs(todo: list[Job], jobs: int, on_progress: Callable[[JobProgress], None]) -> Outcome:
    """Run all jobs in order, `jobs` at a time.

    On the first Ctrl-C or SIGTERM, no further job starts and running jobs save their state and
    stop; on the second, they are killed.
    """
    failed: dict[str, str] = {}
    with (
        stop_signals() as received,
        closing(
            run_tasks(todo, _setup, jobs, on_progress, reuse=False, stop_requests=received)
        ) as ended,
    ):
        for end in ended:
            if isinstance(end, Failed) and not (end.code == STOPPED or (end.code and received)):
                failed[todo[end.task].title] = end.message
        return Outcome(failed, bool(received))


def _setup() -> Callable[[Job, Advance], None]:
    return _run


def _run(job: Job, advance: Advance) -> None:
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.store import save

    before = signal.signal(signal.SIGTERM, _raise_stopped)  # until training sets its own handler
    try:
        measured = EXPERIMENTS[job.experiment].measure(job.config, job.seed, job.runs, advance)
        save(job.path, job.config, job.seed, measured)
    except Stopped:
        raise SystemExit(STOPPED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_stopped(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped
