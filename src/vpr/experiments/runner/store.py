"""Result files: one JSON file per run, `NAME/VARIANT-sSEED.json`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
from vpr.experiments.runner.experiment import Experiment, Measured, Result, Results, Scale
from vpr.utils.config_json import from_dict, to_dict
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance


def results_folder(out: Path, scale: Scale) -> Path:
    """`out` at scale cpu, a subfolder of it at other scales."""
    return out if scale == "cpu" else out / scale


def result_path(folder: Path, experiment: Experiment, variant: str, seed: int) -> Path:
    return folder / experiment.name / f"{variant}-s{seed}.json"


def save(path: Path, config: Any, seed: int, measured: Measured) -> None:
    trained = {"trained": measured.trained} if measured.trained else {}
    content = {
        "seed": seed,
        "config": to_dict(with_seed(config, seed)),
        "provenance": {"measured": provenance()} | trained,
        "seconds": round(measured.seconds, 1),
        "metrics": measured.metrics,
    }
    write_json(path, content)


def load(folder: Path, experiment: Experiment, scale: Scale) -> Results:
    """All finished runs of the current variants of an experiment, at all seeds."""
    found: Results = {}
    for variant, config in experiment.variants(scale).items():
        paths = (folder / experiment.name).glob(f"{variant}-s*.json")
        mine = [path for path in paths if path.stem.removeprefix(f"{variant}-s").isdigit()]
        if runs := [read_result(path, variant, config) for path in mine]:
            found[variant] = sorted(runs, key=lambda run: run.seed)
    return found


def stale(folder: Path, experiment: Experiment, scale: Scale) -> dict[Path, str]:
    """Result files whose configuration matches no current variant, with the reason."""
    variants, found = experiment.variants(scale), {}
    for path in result_files(folder, experiment):
        variant, _, _ = path.stem.rpartition("-s")
        if variant not in variants:
            found[path] = f"{experiment.name} has no variant {variant!r}"
            continue
        try:
            read_result(path, variant, variants[variant])
        except VPRError as error:
            found[path] = str(error).removeprefix(f"{path} ")
    return found


def result_files(folder: Path, experiment: Experiment) -> list[Path]:
    return sorted((folder / experiment.name).glob("*-s*.json"))


def training_code(path: Path) -> str | None:
    """The `code_digest` of the code that trained the model of a result; None if not recorded."""
    made = read_json(path)["provenance"]
    found: str | None = made.get("trained", made["measured"]).get("training_code")
    return found


def read_result(path: Path, variant: str, config: Any) -> Result:
    """Read a result file; raises `VPRError` if its configuration is not `config`."""
    content = read_json(path)
    if not isinstance(content, dict) or content.keys() != set(Result._fields) - {"variant"}:
        raise VPRError(f"{path} is not a result file: delete it to repeat the run")
    result = Result(variant=variant, **content)
    if from_dict(type(config), result.config, str(path)) != with_seed(config, result.seed):
        raise VPRError(f"{path} has another configuration: delete it to repeat the run")
    return result


def with_seed(config: Any, seed: int) -> Any:
    """Set the seed of a configuration that has one."""
    return replace(config, seed=seed) if hasattr(config, "seed") else config
