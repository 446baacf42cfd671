"""Where tasks run: in this process, in several, on a Ray cluster, or as Slurm jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from vpr.executors.executor import Executor
from vpr.executors.on_ray import RayCluster
from vpr.executors.on_slurm import SlurmCluster
from vpr.executors.processes import Processes, ThisProcess

Backend = Literal["local", "ray", "slurm"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

__all__ = ["BACKENDS", "Backend", "Executor", "make_executor"]


def make_executor(backend: Backend, workers: int | None, logs: Path, *, reuse: bool) -> Executor:
    """The executor for `--on`: at most `workers` tasks at a time.

    With `reuse`, tasks can share a process, and one local worker is this process.
    """
    if backend == "ray":
        return RayCluster(workers, reuse)
    if backend == "slurm":
        return SlurmCluster(logs, workers)
    if reuse and (workers or 1) == 1:
        return ThisProcess()
    return Processes(workers or 1, reuse)
