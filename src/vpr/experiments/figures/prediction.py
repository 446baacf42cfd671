"""Section 4.4: accuracy of the next 200 events that each level predicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.generated_factors import advances_by_one, in_order, read_rollout
from vpr.experiments.runner.experiment import Claim, Experiment, Published, Results
from vpr.experiments.runner.result_metrics import metric, prediction_row
from vpr.experiments.runner.settings import describe, scaled_count
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.shared.datasets import (
    FACTOR_COLOURS,
    LEVEL_FACTORS,
    TITLES,
    dataset_runs,
    slow_factors,
)
from vpr.experiments.shared.panels import draw_curve, draw_scores, score_axis
from vpr.experiments.shared.readers import (
    evaluation_batch,
    readable_data,
    reader_for,
    reader_scores,
)
from vpr.model import VPR
from vpr.utils.figures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVENTS, SEQUENCES = 200, 64
PAPER = {
    "colour": Published(1.0, 0.0),
    "wall": Published(0.99, 0.017),
    "object": Published(0.90, 0.04),
}


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Share of correct values among the predicted events of levels 2 to N, in total and by event.

    `accuracy` compares with the true event; `steps` compares with the previous predicted event, so
    that an error counts once.
    """
    batch = evaluation_batch(config, SEQUENCES)
    reader, events = reader_for(config, folder.parent), scaled_count(config, EVENTS)
    video = torch.from_numpy(batch.frames)
    metrics: dict[str, Any] = {"reader": reader_scores(reader, model, batch)}
    curves: dict[str, Any] = {"step": list(range(1, events + 1))}
    for level, factor in LEVEL_FACTORS[config.data.name].items():
        if level > 1:
            decoded = read_rollout(model, reader, video, level, events)[factor]
            last, count = batch.factors[factor][:, -1], readable_data(config).counts[factor]
            right = in_order(decoded, last, count)
            steps = float(advances_by_one(decoded, last, count).mean())
            metrics[factor] = {"accuracy": float(right.mean()), "steps": steps}
            curves[factor] = right.mean(0).tolist()
    return metrics | {"curve": curves}


def draw(results: Results) -> Figure:
    factors = slow_factors(results)
    with panels(2) as (figure, (over, whole)):
        for factor, dataset in factors.items():
            label = f"{TITLES[dataset]}, {factor}"
            draw_curve(over, results[dataset], factor, FACTOR_COLOURS[factor], label)
        over.set_xlabel("events ahead")
        score_axis(over, "share of correct events")
        over.legend(loc="lower left")
        groups = {f: metric(results[d], f, "accuracy") for f, d in factors.items()}
        draw_scores(whole, groups, [FACTOR_COLOURS[factor] for factor in groups])
        whole.set_ylabel("accuracy of each run")
    return figure


def claims(results: Results) -> list[Claim]:
    rows = []
    for factor, dataset in slow_factors(results).items():
        runs, name = results[dataset], f"{TITLES[dataset]}, 200 events ahead, {factor}"
        setting, row = describe(runs), prediction_row(TITLES[dataset], factor)
        right, steps = (metric(runs, factor, key) for key in ("accuracy", "steps"))
        rows.append(Claim(name, PAPER[factor], right, setting, main=row))
        what = f"{name}, relative to the previous predicted event"
        rows.append(Claim(what, "none", steps, setting))
        for kind in ("true", "reconstructed"):
            ours = metric(runs, "reader", kind, factor)
            what = f"{TITLES[dataset]}, accuracy of the reader on {kind} frames, {factor}"
            rows.append(Claim(what, "none", ours, setting))
    return rows


EXPERIMENT = Experiment(
    name="prediction",
    paper="section 4.4",
    title="Moving Ball and 3DSD: accuracy of the next 200 events that one level predicts",
    cost="two minutes per run; uses the models of criteria and 3dsd-events",
    variants=dataset_runs,
    measure=measure_model(evaluate),
    draw=draw,
    claims=claims,
)
