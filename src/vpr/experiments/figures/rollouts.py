"""Figure 5: each level jumps while all others hold; what changes, and what stays?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from vpr.config import RunConfig
from vpr.data import MovingBall, evaluation_rng
from vpr.evaluation.jumps import in_order, read_jumps, unchanged
from vpr.evaluation.readers import Reader
from vpr.experiments.runner.base import Claim, Experiment, Results
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import setting
from vpr.experiments.shared.readers import FRAMES, SEED, reader_for, watched, world_of
from vpr.experiments.shared.sheets import as_text, draw_sheets
from vpr.experiments.shared.worlds import HELD, NAMES, worlds
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JUMPS, SEQUENCES = 12, 64


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence; of many, how often each factor is right at each level's jumps.

    A level's own factor should be the next in order, all others should stay.
    """
    levels = range(1, model.config.levels + 1)
    film = rollout_film(model, config.data, levels, steps=JUMPS, frames=FRAMES, seed=SEED)
    reader = reader_for(config, folder.parent)
    right = {str(level): _right(model, config, reader, level) for level in levels}
    found = {"sheet": as_text(film), "facts": film.facts, "right": right}
    if isinstance(config.data, MovingBall):
        found["astray"] = _astray(model, config, reader, config.data)
    return found


def _right(model: VPR, config: RunConfig, reader: Reader, level: int) -> dict[str, float]:
    batch, counts = watched(config, amount(config, SEQUENCES)), world_of(config).counts
    painted = read_jumps(model, reader, torch.from_numpy(batch.frames), level, JUMPS)
    found = {}
    for own, factor in HELD[config.data.name].items():
        last = batch.factors[factor][:, -1]
        ordered = in_order(painted[factor], last, counts[factor])
        found[factor] = float(
            (ordered if own == level else unchanged(painted[factor], last)).mean()
        )
    return found


def _astray(model: VPR, config: RunConfig, reader: Reader, data: MovingBall) -> dict[str, float]:
    """Pixels from where the ball should be: at level 1 on its way, at level 2 where it was."""
    count = amount(config, SEQUENCES)
    batch = data.batch(count, FRAMES + JUMPS, evaluation_rng(SEED))
    video = torch.from_numpy(batch.frames[:, :FRAMES])
    whole = reader(torch.from_numpy(batch.frames[:, FRAMES - 1 :]))["position"]
    wanted = {1: whole[:, 1:], 2: whole[:, :1]}
    return {
        str(level): float(
            np.linalg.norm(_places(model, reader, video, level) - true, axis=-1).mean()
        )
        for level, true in wanted.items()
    }


def _places(model: VPR, reader: Reader, video: torch.Tensor, level: int) -> Any:
    return read_jumps(model, reader, video, level, JUMPS)["position"]  # (B, K, 2)


def draw(results: Results) -> Figure:
    """Of the first run of each world."""
    return draw_sheets({NAMES[world]: runs[0].metrics["sheet"] for world, runs in results.items()})


def claims(results: Results) -> list[Claim]:
    rows = []
    for world, runs in results.items():
        for level in runs[0].metrics["right"]:
            for own, factor in HELD[world].items():
                does = "is the next in order" if str(own) == level else "stays"
                what = f"{NAMES[world]}, {JUMPS} jumps of level {level}: {factor} {does}"
                ours = [run.metrics["right"][level][factor] for run in runs]
                rows.append(Claim(what, "yes (figure only)", ours, setting(runs)))
        for level in runs[0].metrics.get("astray", {}):
            what = f"{NAMES[world]}, {JUMPS} jumps of level {level}: pixels off the ball's place"
            ours = [run.metrics["astray"][level] for run in runs]
            rows.append(Claim(what, "none (figure only)", ours, setting(runs)))
    return rows


EXPERIMENT = Experiment(
    name="rollouts",
    title="Moving Ball and 3DSD: jumps of each level, all others held, under the truth (GT)",
    cost="a minute a run; models are those of criteria and 3dsd-events",
    variants=worlds,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
