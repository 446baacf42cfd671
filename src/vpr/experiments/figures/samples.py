"""Figure 6: samples of each level while all others are held."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.data import ThreeDShapesDynamic
from vpr.evaluation.generated_factors import read_draws, unchanged
from vpr.experiments.runner.experiment import Claim, Experiment, Results, Scale, Statement
from vpr.experiments.runner.result_metrics import metric
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.training_runs import measure_model
from vpr.experiments.runner.verdicts import at_least
from vpr.experiments.shared.datasets import LEVEL_FACTORS
from vpr.experiments.shared.readers import FRAMES, SEED, evaluation_batch, reader_for
from vpr.experiments.shared.sheets import draw_first_sheets, encode_sheet
from vpr.generation.sample_film import sample_film
from vpr.model import VPR

SHOWN, SAMPLES, SEQUENCES = 12, 32, 64
TITLES = {"3dsd": "3DSD", "maze": "Miniworld Maze"}
FACTORS = LEVEL_FACTORS["3dsd"]
MIN_HUES, MIN_CONSTANT = 5, 0.9  # of ten hues; share of samples


def variants(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `3dsd-events` and `maze-events`."""
    return {name: run_config(name, scale) for name in TITLES}


def evaluate(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence; for 3DSD also statistics of the factors in samples."""
    levels = range(1, model.config.levels + 1)
    film = sample_film(model, config.data, levels, n=SHOWN, frames=FRAMES, seed=SEED)
    metrics: dict[str, Any] = {"sheet": encode_sheet(film), "facts": film.facts}
    if isinstance(config.data, ThreeDShapesDynamic):
        metrics["draws"] = {str(n): _sample_statistics(model, config, folder, n) for n in levels}
    return metrics


def _sample_statistics(model: VPR, config: RunConfig, folder: Path, level: int) -> dict[str, Any]:
    """For each factor, how often it stays constant, and how many hues it has."""
    batch, reader = (evaluation_batch(config, SEQUENCES), reader_for(config, folder.parent))
    drawn = read_draws(model, reader, torch.from_numpy(batch.frames), level, SAMPLES)
    return {
        factor: {
            "stays": float(unchanged(drawn[factor], batch.factors[factor][:, -1]).mean()),
            "hues": float(np.mean([len(np.unique(trial)) for trial in drawn[factor]])),
        }
        for factor in FACTORS.values()
    }


def claims(results: Results) -> list[Claim]:
    rows = []
    runs = results.get("3dsd", [])
    for level in FACTORS if runs else ():
        for own, factor in FACTORS.items():
            if own == level:
                key, what, paper = "hues", f"hues of the {factor} in {SAMPLES} samples", "many"
            else:
                key, what, paper = "stays", f"{factor} constant", "yes"
            ours = metric(runs, "draws", level, factor, key)
            what = f"3DSD, samples of level {level}: {what}"
            rows.append(Claim(what, f"{paper} (figure only)", ours, describe(runs)))
    return rows


def statements(results: Results) -> list[Statement]:
    """Samples of a level vary its own factor, and the others stay."""
    found, runs = [], results.get("3dsd", [])
    for level in FACTORS if runs else ():
        start = f"3DSD: samples of level {level}"
        for own, factor in FACTORS.items():
            if own == level:
                hues = metric(runs, "draws", level, factor, "hues")
                found.append(
                    at_least(f"{start} have {MIN_HUES} hues of the {factor}", hues, MIN_HUES)
                )
            else:
                stays = metric(runs, "draws", level, factor, "stays")
                found.append(at_least(f"{start} keep the {factor}", stays, MIN_CONSTANT))
    return found


EXPERIMENT = Experiment(
    name="samples",
    paper="figure 6",
    title="3DSD and Miniworld Maze: samples of each level, all others held, and other sequences",
    cost="a minute per run; uses the models of 3dsd-events and maze-events",
    variants=variants,
    measure=measure_model(evaluate),
    draw=partial(draw_first_sheets, titles=TITLES),
    claims=claims,
    statements=statements,
)
