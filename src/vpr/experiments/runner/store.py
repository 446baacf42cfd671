"""Results on the disk: one JSON file a run, `NAME/VARIANT-sSEED.json`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
from vpr.experiments.runner.base import Experiment, Measured, Result, Results, Scale
from vpr.utils.config_json import from_dict, to_dict
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance


def results_folder(out: Path, scale: Scale) -> Path:
    """The results that count lie in `out` itself, those of another scale beside them."""
    return out if scale == "cpu" else out / scale


def path_of(folder: Path, experiment: Experiment, variant: str, seed: int) -> Path:
    return folder / experiment.name / f"{variant}-s{seed}.json"


def save(path: Path, config: Any, seed: int, measured: Measured) -> None:
    trained = {"trained": measured.trained} if measured.trained else {}
    content = {
        "seed": seed,
        "config": to_dict(seeded(config, seed)),
        "provenance": {"measured": provenance()} | trained,
        "seconds": round(measured.seconds, 1),
        "metrics": measured.metrics,
    }
    write_json(path, content)


def load(folder: Path, experiment: Experiment, scale: Scale) -> Results:
    """Every finished run of the experiment's variants, whatever its seed: never a choice."""
    found: Results = {}
    for variant, config in experiment.variants(scale).items():
        paths = (folder / experiment.name).glob(f"{variant}-s*.json")
        mine = [path for path in paths if path.stem.removeprefix(f"{variant}-s").isdigit()]
        if runs := [read(path, variant, config) for path in mine]:
            found[variant] = sorted(runs, key=lambda run: run.seed)
    return found


def stale(folder: Path, experiment: Experiment, scale: Scale) -> dict[Path, str]:
    """Result files that do not belong to a present setting of the experiment, and why."""
    variants, found = experiment.variants(scale), {}
    for path in sorted((folder / experiment.name).glob("*-s*.json")):
        variant, _, _ = path.stem.rpartition("-s")
        if variant not in variants:
            found[path] = f"{experiment.name} has no variant {variant!r}"
            continue
        try:
            read(path, variant, variants[variant])
        except VPRError as error:
            found[path] = str(error).removeprefix(f"{path} ")
    return found


def read(path: Path, variant: str, config: Any) -> Result:
    """A run's file, which must be of this configuration."""
    content = read_json(path)
    if not isinstance(content, dict) or content.keys() != set(Result._fields) - {"variant"}:
        raise VPRError(f"{path} is not the result of a run: delete it, and it is run again")
    result = Result(variant=variant, **content)
    if from_dict(type(config), result.config, str(path)) != seeded(config, result.seed):
        raise VPRError(f"{path} was made under another setting: delete it, and it is run again")
    return result


def seeded(config: Any, seed: int) -> Any:
    """Training runs carry their seed in the configuration."""
    return replace(config, seed=seed) if hasattr(config, "seed") else config
