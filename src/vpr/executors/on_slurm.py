"""Tasks as a Slurm job array, submitted by submitit, which also resubmits jobs that were preempted.

Options of the jobs are Slurm's environment variables: SBATCH_PARTITION, SBATCH_TIMELIMIT, …
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
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

POLL_INTERVAL = 1.0  # seconds between checks for ended jobs and stop requests
MAX_ARRAY_SIZE = 1000  # jobs; Slurm's usual limit is 1001
DEFAULT_PARALLEL_JOBS = 256
DEFAULT_MINUTES = 24 * 60  # unless SBATCH_TIMELIMIT is set


@dataclass(frozen=True)
class SlurmCluster(Executor):
    """Runs a job for each task, `workers` at a time; with many tasks, a job runs several."""

    logs: Path  # a folder that all machines share
    workers: int | None = None
    cluster: str = "slurm"  # or "local", submitit's processes on this machine

    def _run(self, work: Work) -> TaskResults:
        numbered = list(enumerate(work.tasks))
        count = min(len(work.tasks), MAX_ARRAY_SIZE)
        parts = [Part(work.setup, numbered[first::count]) for first in range(count)]
        running = dict(zip(self._submit(parts), parts, strict=True)) if parts else {}
        handled = 0
        try:
            while running:
                for job in [job for job in running if job.done()]:
                    yield from _ends(job, running.pop(job))
                for job, part in running.items():
                    for number, _ in part.tasks:
                        note = f"job {job.job_id}: {job.state}"
                        work.on_progress(JobProgress(number, 0, None, note))
                if len(work.stop_requests) > handled:
                    for job in running:
                        job.cancel()
                    handled = len(work.stop_requests)
                time.sleep(POLL_INTERVAL)
        finally:
            for job in running:
                job.cancel()

    def _submit(self, parts: list[Part]) -> list[Any]:
        try:
            import submitit
        except ImportError:
            raise VPRError("--on slurm needs submitit: pip install 'vpr-torch[slurm]'") from None
        try:
            executor = submitit.AutoExecutor(self.logs / "%j", cluster=self.cluster)
            executor.update_parameters(
                name="vpr",
                cpus_per_task=1,
                timeout_min=DEFAULT_MINUTES,
                slurm_array_parallelism=self.workers or DEFAULT_PARALLEL_JOBS,
            )
            with executor.batch():
                return [executor.submit(part) for part in parts]
        except (RuntimeError, OSError, submitit.core.utils.FailedJobError) as error:
            reason = " ".join(str(error).split())
            raise VPRError(f"Slurm did not accept the jobs: {reason}") from error


@dataclass(frozen=True)
class Part:
    """The tasks of one job."""

    setup: Setup
    tasks: list[tuple[int, Any]]

    def __call__(self) -> list[Done | Failed]:
        from vpr.utils.threads import use_threads

        use_threads(1)
        run = self.setup()
        return [run_task(run, number, task, lambda now: None) for number, task in self.tasks]

    def checkpoint(self) -> Any:
        """Called by submitit before time runs out or the job is preempted: what to submit again.

        Tasks that are finished by then are skipped when the job runs again.
        """
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def _ends(job: Any, part: Part) -> list[Done | Failed]:
    import submitit

    try:
        ends: list[Done | Failed] = job.result()
    except submitit.core.utils.UncompletedJobError:
        words = f"job {job.job_id} ended as {job.state}; its messages are in {job.paths.stderr}"
        return [Failed(number, words, 1) for number, _ in part.tasks]
    return ends
