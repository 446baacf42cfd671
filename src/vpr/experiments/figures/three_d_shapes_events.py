"""Figure 3c: levels 2 and 3 find the changes of the wall and of the object in 3DSD."""

from __future__ import annotations

from functools import partial

from vpr.config import RunConfig
from vpr.experiments.runner.base import Experiment, Scale
from vpr.experiments.runner.settings import run_of
from vpr.experiments.runner.trained import trained
from vpr.experiments.shared.levels import draw_levels, level_claims, level_scores

FACTORS = {2: "wall", 3: "object"}


def variants(scale: Scale) -> dict[str, RunConfig]:
    return {"both": run_of("3dsd", scale)}


EXPERIMENT = Experiment(
    name="3dsd-events",
    title="3D Shapes Dynamic: F1 of level 2 (wall) and level 3 (object) over training",
    cost="one run of cpu/3dsd each",
    variants=variants,
    measure=trained(level_scores(FACTORS)),
    draw=partial(draw_levels, factors=FACTORS),
    claims=partial(level_claims, factors=FACTORS, world="3DSD", paper="0.97 ± 0.02"),
)
