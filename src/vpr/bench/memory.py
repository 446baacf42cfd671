"""Resident memory, now and at its peak."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from vpr.bench.steps import training_step
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.training.loop import without_denormals
from vpr.training.session import Session

STATUS = Path("/proc/self/status")
STEPS = 3  # the first makes Adam's moments, the next meet them


def resident_mb() -> float:
    """Of this process, now."""
    return _status_mb("VmRSS") or _most_mb()


def peak_mb() -> float:
    """The most that this process ever had.

    Not from getrusage where Linux tells it: a child starts there with its parent's mark.
    """
    return _status_mb("VmHWM") or _most_mb()


def peak_of_training_mb(config: RunConfig, threads: int) -> float:
    """Of a fresh process that makes a few training steps and nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_train_and_tell, config, threads).result()


def _train_and_tell(config: RunConfig, threads: int) -> float:
    torch.set_num_threads(threads)
    session = Session(config)
    with without_denormals(), training_step(session, session.batch()) as step:
        for _ in range(STEPS):
            step()
    return peak_mb()


def _status_mb(key: str) -> float | None:
    """A line such as "VmRSS:   123 kB"; None where there is no /proc."""
    if not STATUS.exists():
        return None
    lines = STATUS.read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(key)), None)


def _most_mb() -> float:
    try:
        import resource  # not on Windows
    except ImportError:
        raise VPRError("this system does not tell how much memory a process has") from None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)  # bytes there, kB elsewhere
