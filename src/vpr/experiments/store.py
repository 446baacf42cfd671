"""Results on the disk: one JSON file a run, `NAME/VARIANT-sSEED.json`."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import vpr
from vpr.experiments.base import Experiment, Measured, Result, Results, Scale
from vpr.files import read_json, write_json
from vpr.serial import to_dict


def results_folder(out: Path, scale: Scale) -> Path:
    """The results that count lie in `out` itself, those of another scale beside them."""
    return out if scale == "cpu" else out / scale


def path_of(folder: Path, experiment: Experiment, variant: str, seed: int) -> Path:
    return folder / experiment.name / f"{variant}-s{seed}.json"


def save(path: Path, config: Any, seed: int, measured: Measured) -> None:
    config = replace(config, seed=seed) if hasattr(config, "seed") else config
    content = {
        "seed": seed,
        "config": to_dict(config),
        "versions": versions(),
        "seconds": round(measured.seconds, 1),
        "metrics": measured.metrics,
    }
    write_json(path, content)


def load(folder: Path, experiment: Experiment, scale: Scale) -> Results:
    """Every finished run of the experiment's variants, whatever its seed: never a choice."""
    found: Results = {}
    for variant in experiment.variants(scale):
        paths = (folder / experiment.name).glob(f"{variant}-s*.json")
        runs = [_read(path, variant) for path in paths if path.stem.split("-s")[-1].isdigit()]
        if runs:
            found[variant] = sorted(runs, key=lambda run: run.seed)
    return found


def _read(path: Path, variant: str) -> Result:
    return Result(variant=variant, **read_json(path))


def versions() -> dict[str, str]:
    return {
        "vpr": vpr.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
