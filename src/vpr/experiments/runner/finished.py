"""Experiments that ask a trained model something: the run is there already, or is trained first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.config import RunConfig
from vpr.experiments.runner.base import Advance, Measured
from vpr.experiments.runner.store import seeded
from vpr.experiments.runner.trained import finish
from vpr.model import VPR
from vpr.pretrained import load_model

Ask = Callable[[VPR, RunConfig, Path], dict[str, Any]]  # model, its setting, its folder → metrics


def asking(ask: Ask) -> Callable[[RunConfig, int, Path, Advance], Measured]:
    """`measure` of such an experiment."""

    def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
        config = seeded(config, seed)
        record, folder = finish(config, runs, advance)
        start = perf_counter()
        metrics = ask(load_model(folder), config, folder)
        return Measured(metrics, record["seconds"] + perf_counter() - start, record["provenance"])

    return measure


def amount(config: RunConfig, count: int) -> int:
    """`count`, or a fiftieth of it at scale tiny."""
    return max(count // 50, 2) if config.preset.startswith("tiny/") else count
