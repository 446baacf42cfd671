"""Run experiments in parallel, one process per run."""

from __future__ import annotations

import signal
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from vpr.executors.claims import CLAIM_SUFFIX, Claimed, claimed, run_claimed
from vpr.executors.executor import Done, Executor, Failed, OnProgress, Report, Run, stop_signals
from vpr.experiments.runner.experiment import Advance, Stopped


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
    elsewhere: list[str]  # titles of jobs that other processes are running
    stopped: bool


def run_jobs(todo: list[Job], executor: Executor, on_progress: OnProgress) -> Outcome:
    """Run all jobs that no other process has claimed, in order.

    On the first Ctrl-C or SIGTERM, no further job starts and running jobs save their state and
    stop; on the second, they are killed.
    """
    failed: dict[str, str] = {}
    elsewhere: list[str] = []
    with (
        stop_signals() as received,
        closing(run_claimed(executor, todo, _Setup, on_progress, stop_requests=received)) as ended,
    ):
        for end in ended:
            if isinstance(end, Failed) and not (end.code and received):
                failed[todo[end.task].title] = end.message
            elif isinstance(end, Done) and end.result is Claimed.ELSEWHERE:
                elsewhere.append(todo[end.task].title)
        return Outcome(failed, elsewhere, bool(received))


@dataclass(frozen=True)
class _Setup:
    timeout: float  # with claims

    def __call__(self) -> Run:
        return self._run

    def _run(self, job: Job, report: Report) -> Claimed | None:
        with claimed(job.path.with_name(job.path.name + CLAIM_SUFFIX), self.timeout) as mine:
            if not mine:
                return Claimed.ELSEWHERE
            if not job.path.exists():  # another process may have finished it meanwhile
                _run(job, report)
            return None


def _run(job: Job, advance: Advance) -> None:
    from vpr.experiments import EXPERIMENTS
    from vpr.experiments.runner.store import save

    before = signal.signal(signal.SIGTERM, _raise_stopped)  # until training sets its own handler
    try:
        measured = EXPERIMENTS[job.experiment].measure(job.config, job.seed, job.runs, advance)
        save(job.path, job.config, job.seed, measured)
    except Stopped:  # its state is saved
        return
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_stopped(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped
