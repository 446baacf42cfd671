"""Appendix C.1: rollouts without temporal context below the level that jumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.disentanglement import mean_entropy
from vpr.evaluation.jumps import in_order, read_jumps
from vpr.experiments.runner.base import Claim, Experiment, Results
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import setting
from vpr.experiments.shared.readers import FRAMES, SEED, reader_for, watched, world_of
from vpr.experiments.shared.sheets import as_text, draw_sheets
from vpr.experiments.shared.worlds import HELD, NAMES, worlds
from vpr.generation.generate import Below
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUMPS, SHOWN, SEQUENCES = 24, 12, 64
WAYS: tuple[Below, ...] = ("samples", "means")


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Below the level samples, or means: a sheet for each way, and what the factors do.

    The level itself jumps by means both times, as in the paper.
    """
    return {way: _way(model, config, folder, way) for way in WAYS}


def _way(model: VPR, config: RunConfig, folder: Path, below: Below) -> dict[str, Any]:
    levels = range(2, model.config.levels + 1)
    film = rollout_film(
        model,
        config.data,
        levels,
        steps=SHOWN,
        frames=FRAMES,
        seed=SEED,
        below=below,
    )
    found = {str(level): _level(model, config, folder, level, below) for level in levels}
    return {"sheet": as_text(film), "facts": film.facts, "levels": found}


def _level(
    model: VPR, config: RunConfig, folder: Path, level: int, below: Below
) -> dict[str, dict[str, float]]:
    """Of each factor: is it the next in order, and how many values does it take, as an entropy?

    `visible`: in how many pictures there is anything to read.
    """
    batch, counts = watched(config, amount(config, SEQUENCES)), world_of(config).counts
    video, reader = torch.from_numpy(batch.frames), reader_for(config, folder.parent)
    painted = read_jumps(model, reader, video, level, JUMPS, below=below)
    return {
        factor: {
            "right": float(in_order(painted[factor], values[:, -1], counts[factor]).mean()),
            "visible": float((painted[factor] >= 0).mean()),
            "entropy": mean_entropy(painted[factor]),
        }
        for factor, values in batch.factors.items()
        if factor in counts
    }


def draw(results: Results) -> Figure:
    """Of the first run of each world, both ways."""
    return draw_sheets(
        {
            f"{NAMES[world]}, {way} below": runs[0].metrics[way]["sheet"]
            for world, runs in results.items()
            for way in WAYS
        }
    )


def claims(results: Results) -> list[Claim]:
    rows = []
    for world, runs in results.items():
        for way in WAYS:
            for level in runs[0].metrics[way]["levels"]:
                where = f"{NAMES[world]}, level {level} jumps, below it {way} without a past"
                told = [run.metrics[way]["levels"][level] for run in runs]
                own = HELD[world][int(level)]
                right, visible = ([each[own][key] for each in told] for key in ("right", "visible"))
                rows.append(
                    Claim(f"{where}: {own} right", "yes (figure only)", right, setting(runs))
                )
                if min(visible) < 1:
                    what = f"{where}: pictures with a {own} to see"
                    rows.append(Claim(what, "all (figure only)", visible, setting(runs)))
                rows += _below(world, int(level), where, told, setting(runs))
    return rows


def _below(
    world: str, level: int, where: str, told: list[dict[str, Any]], differs: str
) -> list[Claim]:
    """The factors of the levels beneath: at random if sampled, so their entropy is high."""
    return [
        Claim(
            f"{where}: entropy of the {factor} in nats, at most 2.30",
            "high for samples, low for means (figure only)",
            [each[factor]["entropy"] for each in told],
            differs,
        )
        for other, factor in HELD[world].items()
        if other < level
    ]


EXPERIMENT = Experiment(
    name="empty-prior",
    title="Moving Ball and 3DSD: jumps of a level, those below it without their past",
    cost="two minutes a run; models are those of criteria and 3dsd-events",
    variants=worlds,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
