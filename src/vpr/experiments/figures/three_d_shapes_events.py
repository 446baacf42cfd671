"""Figure 3c: F1 of levels 2 (wall) and 3 (object) on 3DSD."""

from __future__ import annotations

from functools import partial

from vpr.experiments.runner.experiment import Experiment, Published
from vpr.experiments.runner.settings import single_run
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.shared.levels import draw_levels, level_claims, level_scores

FACTORS = {2: "wall", 3: "object"}


EXPERIMENT = Experiment(
    name="3dsd-events",
    paper="figure 3c",
    title="3D Shapes Dynamic: F1 of level 2 (wall) and level 3 (object) over training",
    cost="one training run of cpu/3dsd",
    variants=single_run("3dsd"),
    measure=measure_training(level_scores(FACTORS)),
    draw=partial(draw_levels, factors=FACTORS),
    claims=partial(level_claims, factors=FACTORS, dataset="3DSD", paper=Published(0.97, 0.02)),
)
