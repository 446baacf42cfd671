"""Training runs of experiments: trained once, inspected during training, evaluated at the end.

Experiments with the same configuration share a run folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.evaluation import evaluate
from vpr.experiments.runner.experiment import Advance, Measured
from vpr.experiments.runner.inspect_training import inspect_model
from vpr.experiments.runner.periodic_log import Lines, PeriodicLog, record_run
from vpr.experiments.runner.store import with_seed
from vpr.experiments.shared.datasets import labelled
from vpr.model import VPR
from vpr.pretrained import load_model
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.session import Session
from vpr.utils.config_json import to_dict

INSPECTIONS = "looks.jsonl"
DIGITS = 8  # of the digest of the configuration in a folder name
INSPECTION_INTERVAL = 50  # steps
TARGET_F1 = 0.95  # see `time_to_f1`
Record = dict[str, Any]  # "evaluation", "looks", "time_to_f1", "seconds", "provenance"
Inspection = dict[str, Any]  # "step", "seconds", "stage", "levels"
Measure = Callable[[RunConfig, int, Path, Advance], Measured]  # see `Experiment.measure`


def measure_training(
    extract_metrics: Callable[[Record], dict[str, Any]], every: int = INSPECTION_INTERVAL
) -> Measure:
    """A `measure` function that trains a model and extracts metrics from the record of its run.

    The model is inspected every `every` steps.
    """

    def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
        record, _ = train_or_load(with_seed(config, seed), runs, advance, every)
        return Measured(extract_metrics(record), record["seconds"], record["provenance"])

    return measure


def measure_model(evaluate_model: Callable[[VPR, RunConfig, Path], dict[str, Any]]) -> Measure:
    """A `measure` function that evaluates a trained model, which is trained first if necessary.

    `evaluate_model` is called with the model, its configuration and its run folder.
    """

    def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
        config = with_seed(config, seed)
        record, folder = train_or_load(config, runs, advance)
        start = perf_counter()
        metrics = evaluate_model(load_model(folder), config, folder)
        return Measured(metrics, record["seconds"] + perf_counter() - start, record["provenance"])

    return measure


def train_or_load(
    config: RunConfig, runs: Path, advance: Advance, every: int = INSPECTION_INTERVAL
) -> tuple[Record, Path]:
    """The record and the folder of a run, which is trained unless it is finished."""
    folder = run_folder(config, runs, every)
    log = PeriodicLog(folder / INSPECTIONS, every, _inspect)
    return record_run(config, log, advance, train, partial(_summary, config)), folder


def run_folder(config: RunConfig, runs: Path, every: int = INSPECTION_INTERVAL) -> Path:
    """The folder of the run of a configuration, whether or not it exists.

    The folder name contains a digest of the configuration. A run that was made before a field was
    added to the configuration has another digest, and is found by comparing configurations.
    """
    default = runs / folder_name(config, every)
    if default.exists():
        return default
    others = sorted(runs.glob(_name(config, "?" * DIGITS, every)))
    return next((folder for folder in others if _has_config(folder, config)), default)


def _has_config(folder: Path, config: RunConfig) -> bool:
    try:
        return RunFolder(folder).config() == config
    except VPRError:  # made by another version, or not a run folder
        return False


def folder_name(config: RunConfig, every: int = INSPECTION_INTERVAL) -> str:
    """A name that is different for every configuration."""
    digest = hashlib.sha256(json.dumps(to_dict(config), sort_keys=True).encode()).hexdigest()
    return _name(config, digest[:DIGITS], every)


def _name(config: RunConfig, digest: str, every: int) -> str:
    suffix = "" if every == INSPECTION_INTERVAL else f"-every{every}"
    return f"{config.preset.replace('/', '-')}-{digest}{suffix}-s{config.seed}"


def _summary(config: RunConfig, folder: Path, inspections: Lines) -> Record:
    return {
        "evaluation": evaluate(load_model(folder), labelled(config.data)),
        "looks": inspections,
        "time_to_f1": {n: time_to_f1(inspections, n) for n in inspections[-1]["levels"]},
    }


def _inspect(session: Session) -> dict[str, Any]:
    before = session.step - 1  # index of the completed step
    levels = inspect_model(session.model, session.rule_at(before), session.config.data)
    return {"stage": session.stage(before).name, "levels": levels}


def record_steps(record: Record) -> list[int]:
    """The steps at which the model was inspected."""
    return [each["step"] for each in record["looks"]]


def time_to_f1(inspections: Sequence[Inspection], level: str) -> dict[str, float] | None:
    """Step and seconds from which on the F1 of a level stays at `TARGET_F1` or above.

    None if the last F1 is lower, or the data has no labels. Includes the time of inspections.
    """
    reached = list(
        takewhile(lambda e: e["levels"][level].get("f1", 0.0) >= TARGET_F1, reversed(inspections))
    )
    return {name: reached[-1][name] for name in ("step", "seconds")} if reached else None
