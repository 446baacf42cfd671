"""Training runs of baselines as experiments use them: trained once, scored during and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vpr.baselines import BaselineRun, CWVAEConfig, VTAConfig, baseline, load_baseline
from vpr.baselines.baseline_session import train_baseline
from vpr.evaluation import evaluate
from vpr.experiments.runner.experiment import Advance, Scale
from vpr.experiments.runner.periodic_log import Lines, PeriodicLog, record_run
from vpr.experiments.runner.settings import small_data
from vpr.experiments.runner.training_runs import folder_name

EVERY = 50  # steps between two scores
SEQUENCES, SEED = 32, 1  # of these scores; the final evaluation uses others
CURVE = "curve.jsonl"
# Level → the factors that its boundaries are scored against.
VTA_FACTORS: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "moving-ball": {2: ("colour",)},
    "3dsd": {2: ("wall", "object")},
    "bouncing-balls": {2: ("colour",)},
    "maze": {2: ("hallway", "colour")},
    "synthetic": {2: ("value",)},
}
CWVAE_FACTORS: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "moving-ball": {2: ("colour",)},
    "3dsd": {2: ("wall",), 3: ("object",)},
}


def baseline_run(name: str, scale: Scale) -> BaselineRun:
    """The run `SCALE/NAME`; at scale tiny, a run of a few seconds."""
    if scale != "tiny":
        return baseline(f"{scale}/{name}")
    config = baseline(f"cpu/{name}")
    data = small_data(config.data)
    sizes: dict[str, Any] = {"width": 12, "state_size": 3, "channels": 4, "frame": data.frame}
    if isinstance(config.model, CWVAEConfig):
        sizes["hidden"] = 10
    training = replace(config.training, steps=8, batch_size=3, length=7, checkpoint_every=4)
    model = replace(config.model, **sizes)
    return replace(config, preset=f"tiny/{name}", data=data, model=model, training=training)


def factors_of(config: BaselineRun) -> list[tuple[int, str]]:
    """Each scored level with each of its factors."""
    table = VTA_FACTORS if isinstance(config.model, VTAConfig) else CWVAE_FACTORS
    return [(level, each) for level, names in table[config.data.name].items() for each in names]


def finish_baseline(
    config: BaselineRun, runs: Path, advance: Advance
) -> tuple[dict[str, Any], Path]:
    """The record of a run and its folder. A run that is not finished is trained first.

    The record has `evaluation`, `curve`, `seconds` and `provenance`.
    """
    folder = runs / folder_name(config)
    log = PeriodicLog(folder / CURVE, EVERY, lambda now: training_scores(now.model, config))
    return record_run(config, log, advance, train_baseline, partial(_summary, config)), folder


def _summary(config: BaselineRun, folder: Path, lines: Lines) -> dict[str, Any]:
    return {
        "evaluation": evaluate(load_baseline(folder), config.data),
        "curve": {name: [line[name] for line in lines] for name in lines[0] if name != "seconds"},
    }


def training_scores(model: Any, config: BaselineRun) -> dict[str, float]:
    """F1 of each factor and update rates of a model during its training."""
    try:
        result = evaluate(model, config.data, sequences=SEQUENCES, seed=SEED)
    finally:
        model.train()
    found = {}
    for level, factor in factors_of(config):
        scored = result["levels"][str(level)]
        found[f"f1_{factor}"] = scored[factor]["f1"]
        found[f"update_rate_{level}"] = scored["update_rate"]
    return found


def final_scores(record: dict[str, Any], config: BaselineRun) -> dict[str, Any]:
    """From a record: scores of each factor with controls, the ELBO, and curves."""
    evaluation = record["evaluation"]
    found: dict[str, Any] = {}
    for level, factor in factors_of(config):
        scored = evaluation["levels"][str(level)]
        found |= {f"{name}_{factor}": value for name, value in scored[factor].items()}
        found[f"update_rate_{level}"] = scored["update_rate"]
        for name, control in evaluation["controls"][str(level)].items():
            found[f"{name}_f1_{factor}"] = control[factor]["f1"]
    terms = {name: evaluation[name] for name in ("elbo", "reconstruction", "kl")}
    return found | terms | {"curve": record["curve"]}
