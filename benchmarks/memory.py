"""Current and peak resident memory."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from benchmarks.steps import training_step
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.training.loop import without_denormals
from vpr.training.session import Session

STATUS = Path("/proc/self/status")
STEPS = 3  # the first allocates the moments of Adam


def resident_mb() -> float:
    """Current resident memory of this process."""
    return _status_mb("VmRSS") or _max_rss_mb()


def peak_mb() -> float:
    """Peak resident memory of this process.

    Not from getrusage on Linux, where a child process inherits the peak of its parent.
    """
    return _status_mb("VmHWM") or _max_rss_mb()


def training_peak_mb(config: RunConfig, threads: int) -> float:
    """Peak memory of a new process that performs a few training steps."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_train_and_measure, config, threads).result()


def _train_and_measure(config: RunConfig, threads: int) -> float:
    torch.set_num_threads(threads)
    session = Session(config)
    with without_denormals(), training_step(session, session.batch()) as step:
        for _ in range(STEPS):
            step()
    return peak_mb()


def _status_mb(key: str) -> float | None:
    """The value of a line such as "VmRSS:   123 kB"; None if there is no /proc."""
    if not STATUS.exists():
        return None
    lines = STATUS.read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(key)), None)


def _max_rss_mb() -> float:
    try:
        import resource  # not on Windows
    except ImportError:
        raise VPRError("the memory of a process is not available on this system") from None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)  # bytes on macOS, else kB
