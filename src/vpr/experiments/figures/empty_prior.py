"""Figures 10 and 11: rollouts of a level while the levels below have no temporal context."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.generated_factors import in_order, mean_entropy, read_rollout
from vpr.experiments.runner.experiment import Claim, Experiment, Results, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.runner.verdicts import above, at_least
from vpr.experiments.shared.datasets import LEVEL_FACTORS, TITLES, dataset_runs
from vpr.experiments.shared.readers import FRAMES, SEED, evaluation_batch, readable_data, reader_for
from vpr.experiments.shared.sheets import draw_sheets, encode_sheet
from vpr.generation.generate import Below
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVENTS, SHOWN, SEQUENCES = 24, 12, 64
MIN_CORRECT = 0.9  # share of correct values
MODES: tuple[Below, ...] = ("samples", "means")


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """A sheet, and statistics of the factors, with samples and with means in the levels below.

    The level itself predicts with means, as in the paper.
    """
    return {mode: _evaluate_mode(model, config, folder, mode) for mode in MODES}


def _evaluate_mode(model: VPR, config: RunConfig, folder: Path, below: Below) -> dict[str, Any]:
    levels = range(2, model.config.levels + 1)
    film = rollout_film(
        model, config.data, levels, steps=SHOWN, frames=FRAMES, seed=SEED, below=below
    )
    by_level = {str(level): _level(model, config, folder, level, below) for level in levels}
    return {"sheet": encode_sheet(film), "facts": film.facts, "levels": by_level}


def _level(
    model: VPR, config: RunConfig, folder: Path, level: int, below: Below
) -> dict[str, dict[str, float]]:
    """For each factor, `right`: the share of predictions that have the next value in order;
    `visible`: the share of frames in which it can be read; `entropy`: of its values.
    """
    batch, counts = (evaluation_batch(config, SEQUENCES), readable_data(config).counts)
    video, reader = torch.from_numpy(batch.frames), reader_for(config, folder.parent)
    decoded = read_rollout(model, reader, video, level, EVENTS, below=below)
    return {
        factor: {
            "right": float(in_order(decoded[factor], values[:, -1], counts[factor]).mean()),
            "visible": float((decoded[factor] >= 0).mean()),
            "entropy": mean_entropy(decoded[factor]),
        }
        for factor, values in batch.factors.items()
        if factor in counts
    }


def draw(results: Results) -> Figure:
    """The sheets of the first run of each dataset, in both modes."""
    return draw_sheets(
        {
            f"{TITLES[dataset]}, {mode} below": runs[0].metrics[mode]["sheet"]
            for dataset, runs in results.items()
            for mode in MODES
        }
    )


def claims(results: Results) -> list[Claim]:
    rows = []
    for dataset, runs in results.items():
        setting = describe(runs)
        for mode in MODES:
            for level in runs[0].metrics[mode]["levels"]:
                start = f"{TITLES[dataset]}, rollout of level {level}, {mode} below"
                values = metric(runs, mode, "levels", level)
                own = LEVEL_FACTORS[dataset][int(level)]
                right = [each[own]["right"] for each in values]
                rows.append(Claim(f"{start}: {own} correct", "yes (figure only)", right, setting))
                visible = [each[own]["visible"] for each in values]
                if min(visible) < 1:
                    what = f"{start}: frames with a visible {own}"
                    rows.append(Claim(what, "all (figure only)", visible, setting))
                rows += _claims_below(dataset, int(level), start, values, setting)
    return rows


def _claims_below(
    dataset: str, level: int, start: str, values: list[dict[str, Any]], setting: str
) -> list[Claim]:
    """Entropies of the factors of the levels below, which are random if sampled."""
    return [
        Claim(
            f"{start}: entropy of the {factor} in nats, at most 2.30",
            "high for samples, low for means (figure only)",
            [each[factor]["entropy"] for each in values],
            setting,
        )
        for other, factor in LEVEL_FACTORS[dataset].items()
        if other < level
    ]


def statements(results: Results) -> list[Statement]:
    """The level's factor is right; the factors below are drawn at random only if sampled."""
    found = []
    for dataset, runs in results.items():
        for level in runs[0].metrics["means"]["levels"]:
            own = LEVEL_FACTORS[dataset][int(level)]
            start = f"{TITLES[dataset]}, empty prior below level {level}"
            found += [
                at_least(
                    f"{start}, {mode}: {own} correct",
                    metric(runs, mode, "levels", level, own, "right"),
                    MIN_CORRECT,
                )
                for mode in MODES
            ]
            for lower, factor in LEVEL_FACTORS[dataset].items():
                if lower < int(level):
                    text = f"{start}: entropy of the {factor} with samples above means"
                    path = "levels", level, factor, "entropy"
                    found.append(above(text, *(metric(runs, mode, *path) for mode in MODES)))
    return found


EXPERIMENT = Experiment(
    name="empty-prior",
    paper="figures 10 and 11, appendix C.1",
    title="Moving Ball and 3DSD: rollouts of a level, without temporal context in the levels below",
    cost="two minutes per run; uses the models of criteria and 3dsd-events",
    variants=dataset_runs,
    measure=measure_model(evaluate),
    draw=draw,
    claims=claims,
    statements=statements,
)
