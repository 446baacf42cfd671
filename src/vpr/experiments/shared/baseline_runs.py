"""Training runs of baselines as experiments use them: trained once, scored during and after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.baselines import BaselineRun, CWVAEConfig, VTAConfig, baseline, load_baseline
from vpr.baselines.baseline_model import Baseline
from vpr.baselines.baseline_session import train_baseline
from vpr.config import Data
from vpr.data import BouncingBalls, MiniworldMaze, MovingBall
from vpr.evaluation import evaluate
from vpr.experiments.runner.base import Advance, Scale, Stopped
from vpr.experiments.runner.training_runs import folder_name
from vpr.training.loop import Progress
from vpr.training.metrics import StepLog
from vpr.training.session import Session
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance

EVERY = 50  # steps between two scores
SEQUENCES, SEED = 32, 1  # of these scores; the final evaluation has others
RECORD, CURVE = "record.json", "curve.jsonl"
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
    """The run `SCALE/NAME`; at scale tiny, one of seconds."""
    if scale != "tiny":
        return baseline(f"{scale}/{name}")
    config = baseline(f"cpu/{name}")
    data = _small(config.data)
    sizes: dict[str, Any] = {"width": 12, "state_size": 3, "channels": 4, "frame": data.frame}
    if isinstance(config.model, CWVAEConfig):
        sizes["hidden"] = 10
    training = replace(config.training, steps=8, batch_size=3, length=7, checkpoint_every=4)
    model = replace(config.model, **sizes)
    return replace(config, preset=f"tiny/{name}", data=data, model=model, training=training)


def _small(data: Data) -> Data:
    if isinstance(data, MovingBall | BouncingBalls):
        return replace(data, size=16)
    if isinstance(data, MiniworldMaze):
        return replace(data, walks=3, unseen_walks=2, frames=120)
    return data


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
    if (folder / RECORD).exists():
        return read_json(folder / RECORD), folder
    curve = CurveLog(folder)
    outcome = train_baseline(config, folder, on_step=_shown(advance), inspect=curve)
    curve.close()
    if not outcome.finished:
        raise Stopped
    lines = [json.loads(line) for line in (folder / CURVE).read_text().splitlines()]
    record = {
        "evaluation": evaluate(load_baseline(folder), config.data),
        "curve": {name: [line[name] for line in lines] for name in lines[0] if name != "seconds"},
        "seconds": lines[-1]["seconds"],
        "provenance": provenance(),
    }
    write_json(folder / RECORD, record)
    return record, folder


class CurveLog:
    """Writes the F1 of each level every `EVERY` steps and at the last one."""

    def __init__(self, folder: Path) -> None:
        self.path, self.start = folder / CURVE, perf_counter()
        self.log: StepLog | None = None

    def __call__(self, session: Session) -> None:
        if self.log is None:
            self.log = StepLog(self.path, session.step - 1)
            lines = self.path.read_text().splitlines()
            self.start -= json.loads(lines[-1])["seconds"] if lines else 0.0
        if session.step % EVERY and session.step != session.last():
            return
        scores = training_scores(session.model, session.config)  # type: ignore[arg-type]
        seconds = perf_counter() - self.start
        self.log.push({"step": session.step, "seconds": seconds} | scores)

    def close(self) -> None:
        if self.log is not None:
            self.log.close()


def training_scores(model: Baseline, config: BaselineRun) -> dict[str, float]:
    """F1 of each factor and update rates, of a model that goes on training."""
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
    """Of a record: scores of each factor with blind controls, the ELBO, and curves."""
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


def _shown(advance: Advance) -> Any:
    def show(now: Progress) -> None:
        rates = " ".join(f"{rate:.2f}" for rate in now.update_rate)
        advance(now.step, now.steps, f"{now.stage}: loss {now.loss:.1f} updates {rates}")

    return show
