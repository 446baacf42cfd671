"""Appendix C.2: Moving Ball when level 2 updates at fixed intervals; is the colour in it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from vpr.config import RunConfig
from vpr.evaluation.swaps import swaps
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import setting
from vpr.experiments.shared.moving_ball import ball
from vpr.experiments.shared.readers import SEED, reader_for, reader_scores, watched
from vpr.experiments.shared.sheets import as_text, draw_sheets
from vpr.generation.rollout_film import rollout_film
from vpr.model import VPR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INTERVALS = (2, 4, 6, 8)
WATCHED = 25  # frames: at the last every clock ticks, so that no state is asked for what is over
JUMPS, SEQUENCES = 12, 256
FACTOR, LEVELS = "colour", (1, 2)


def variants(scale: Scale) -> dict[str, RunConfig]:
    vpr = ball(scale)
    clocks = {
        f"every-{n}": replace(vpr, model=replace(vpr.model, rule="clockwork", intervals=(1, n)))
        for n in INTERVALS
    }
    return {"vpr": vpr} | clocks


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """The sheet of one sequence; and whose colour is painted when a level's states are swapped."""
    film = rollout_film(model, config.data, LEVELS, steps=JUMPS, frames=WATCHED, seed=SEED)
    batch = watched(config, amount(config, SEQUENCES), WATCHED)
    reader = reader_for(config, folder.parent)
    video, true = torch.from_numpy(batch.frames), {FACTOR: batch.factors[FACTOR][:, -1]}
    return {
        "sheet": as_text(film),
        "facts": film.facts,
        "reader": reader_scores(reader, model, batch),
        "swaps": {
            str(level): swaps(model, reader, video, true, level)[FACTOR]._asdict()
            for level in LEVELS
        },
    }


def draw(results: Results) -> Figure:
    """Of the first run of each variant."""
    return draw_sheets({title(name): runs[0].metrics["sheet"] for name, runs in results.items()})


def title(variant: str) -> str:
    interval = variant.removeprefix("every-")
    return "subjective timescale" if variant == "vpr" else f"level 2 every {interval} frames"


def claims(results: Results) -> list[Claim]:
    rows = []
    for name, runs in results.items():
        start = f"Moving Ball, {title(name)}"
        told = [run.metrics["swaps"] for run in runs]
        rows += [
            Claim(
                f"{start}: colour goes with the state of level 2",
                "entirely (figure only)" if name == "vpr" else "not entirely (figure only)",
                [each["2"]["follows"] for each in told],
                setting(runs),
            ),
            Claim(
                f"{start}: colour goes with the state of level 1",
                "no (figure only)" if name == "vpr" else "in part (figure only)",
                [each["1"]["follows"] for each in told],
                setting(runs),
            ),
        ]
    return rows


EXPERIMENT = Experiment(
    name="fixed-interval",
    title="Moving Ball: jumps of each level when level 2 updates at fixed intervals, or by itself",
    cost="one run of cpu/moving-ball each; vpr is that of criteria",
    variants=variants,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
