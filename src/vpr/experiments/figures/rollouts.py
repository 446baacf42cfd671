"""Figure 5: rollouts of each level while all others are held."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.factor_readers import Reader
from vpr.evaluation.generated_factors import in_order, read_rollout, unchanged
from vpr.experiments.runner.experiment import Claim, Experiment, Results, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, scaled_count
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.runner.verdicts import at_least, at_most
from vpr.experiments.shared.datasets import LEVEL_FACTORS, TITLES, dataset_runs
from vpr.experiments.shared.readers import FRAMES, SEED, evaluation_batch, readable_data, reader_for
from vpr.experiments.shared.sheets import draw_first_sheets, encode_sheet
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

EVENTS, SEQUENCES = 12, 64
MIN_CORRECT = 0.9  # share of correct values
MAX_POSITION_ERROR = 3.0  # pixels; half the radius of the ball


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence, and how often each factor is correct in rollouts of each level.

    The factor of the level should take its next values in order, all others should stay constant.
    """
    levels = range(1, model.config.levels + 1)
    film = rollout_film(model, config.data, levels, steps=EVENTS, frames=FRAMES, seed=SEED)
    reader = reader_for(config, folder.parent)
    right = {str(level): _right(model, config, reader, level) for level in levels}
    metrics = {"sheet": encode_sheet(film), "facts": film.facts, "right": right}
    if isinstance(config.data, MovingBall):
        metrics["astray"] = _position_errors(model, config, reader, config.data)
    return metrics


def _right(model: VPR, config: RunConfig, reader: Reader, level: int) -> dict[str, float]:
    batch, counts = (evaluation_batch(config, SEQUENCES), readable_data(config).counts)
    decoded = read_rollout(model, reader, torch.from_numpy(batch.frames), level, EVENTS)
    right = {}
    for own, factor in LEVEL_FACTORS[config.data.name].items():
        last = batch.factors[factor][:, -1]
        ordered = in_order(decoded[factor], last, counts[factor])
        right[factor] = float(
            (ordered if own == level else unchanged(decoded[factor], last)).mean()
        )
    return right


def _position_errors(
    model: VPR, config: RunConfig, reader: Reader, data: MovingBall
) -> dict[str, float]:
    """Mean distance in pixels from the true position of the ball.

    The ball moves on in rollouts of level 1, and stays in rollouts of level 2.
    """
    count = scaled_count(config, SEQUENCES)
    batch = data.batch(count, FRAMES + EVENTS, evaluation_rng(SEED))
    video = torch.from_numpy(batch.frames[:, :FRAMES])
    whole = reader(torch.from_numpy(batch.frames[:, FRAMES - 1 :]))["position"]
    positions = {1: whole[:, 1:], 2: whole[:, :1]}
    errors = {}
    for level, true in positions.items():
        decoded = read_rollout(model, reader, video, level, EVENTS)["position"]  # (B, K, 2)
        errors[str(level)] = float(np.linalg.norm(decoded - true, axis=-1).mean())
    return errors


def claims(results: Results) -> list[Claim]:
    rows = []
    for dataset, runs in results.items():
        for level in runs[0].metrics["right"]:
            for own, factor in LEVEL_FACTORS[dataset].items():
                correct = "next value in order" if str(own) == level else "constant"
                what = f"{TITLES[dataset]}, {EVENTS} events of level {level}: {factor} {correct}"
                ours = metric(runs, "right", level, factor)
                rows.append(Claim(what, "yes (figure only)", ours, describe(runs)))
        for level in runs[0].metrics.get("astray", {}):
            what = f"{TITLES[dataset]}, {EVENTS} events of level {level}: error of the position, px"
            ours = metric(runs, "astray", level)
            rows.append(Claim(what, "none (figure only)", ours, describe(runs)))
    return rows


def statements(results: Results) -> list[Statement]:
    """A level predicts its own factor, and everything else stays."""
    found = []
    for dataset, runs in results.items():
        for level in runs[0].metrics["right"]:
            text = f"{TITLES[dataset]}: rollouts of level {level} change only the level's factor"
            lowest = [min(each.values()) for each in metric(runs, "right", level)]
            found.append(at_least(text, lowest, MIN_CORRECT))
        for level in runs[0].metrics.get("astray", {}):
            limit = MAX_POSITION_ERROR
            text = f"{TITLES[dataset]}: position in rollouts of level {level} within {limit:g} px"
            found.append(at_most(text, metric(runs, "astray", level), limit))
    return found


EXPERIMENT = Experiment(
    name="rollouts",
    paper="figure 5",
    title="Moving Ball and 3DSD: rollouts of each level, all others held, and true frames (GT)",
    cost="a minute per run; uses the models of criteria and 3dsd-events",
    variants=dataset_runs,
    measure=measure_model(evaluate),
    draw=partial(draw_first_sheets, titles=TITLES),
    claims=claims,
    statements=statements,
)
