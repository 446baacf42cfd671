"""Figure 6: draws at one level, all others held."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.data import ThreeDShapesDynamic
from vpr.evaluation.disentanglement import read_draws
from vpr.evaluation.jumps import unchanged
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import run_of, setting
from vpr.experiments.shared.readers import FRAMES, SEED, reader_for, watched
from vpr.experiments.shared.sheets import as_text, draw_sheets
from vpr.experiments.shared.worlds import HELD
from vpr.generation.sample_film import sample_film
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN, DRAWS, SEQUENCES = 12, 32, 64
TITLES = {"3dsd": "3DSD", "maze": "Miniworld Maze"}
FACTORS = HELD["3dsd"]


def variants(scale: Scale) -> dict[str, RunConfig]:
    """The runs of `3dsd-events` and `maze-events`."""
    return {name: run_of(name, scale) for name in TITLES}


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence; of 3DSD also how many hues there are in draws, and what stays."""
    levels = range(1, model.config.levels + 1)
    film = sample_film(model, config.data, levels, n=SHOWN, frames=FRAMES, seed=SEED)
    found: dict[str, Any] = {"sheet": as_text(film), "facts": film.facts}
    if isinstance(config.data, ThreeDShapesDynamic):
        found["draws"] = {str(level): _draws(model, config, folder, level) for level in levels}
    return found


def _draws(model: VPR, config: RunConfig, folder: Path, level: int) -> dict[str, Any]:
    batch, reader = watched(config, amount(config, SEQUENCES)), reader_for(config, folder.parent)
    drawn = read_draws(model, reader, torch.from_numpy(batch.frames), level, DRAWS)
    return {
        factor: {
            "stays": float(unchanged(drawn[factor], batch.factors[factor][:, -1]).mean()),
            "hues": float(np.mean([len(np.unique(trial)) for trial in drawn[factor]])),
        }
        for factor in FACTORS.values()
    }


def draw(results: Results) -> Figure:
    """Of the first run of each world."""
    return draw_sheets({TITLES[world]: runs[0].metrics["sheet"] for world, runs in results.items()})


def claims(results: Results) -> list[Claim]:
    rows = []
    runs = results.get("3dsd", [])
    for level in FACTORS if runs else ():
        for own, factor in FACTORS.items():
            key = "hues" if own == level else "stays"
            told = f"hues of the {factor} in {DRAWS} draws" if own == level else f"{factor} stays"
            paper = "many (figure only)" if own == level else "yes (figure only)"
            ours = [run.metrics["draws"][str(level)][factor][key] for run in runs]
            rows.append(
                Claim(f"3DSD, samples of level {level}: {told}", paper, ours, setting(runs))
            )
    return rows


EXPERIMENT = Experiment(
    name="samples",
    title="3DSD and Miniworld Maze: draws at each level, all others held, under other sequences",
    cost="a minute a run; models are those of 3dsd-events and maze-events",
    variants=variants,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
