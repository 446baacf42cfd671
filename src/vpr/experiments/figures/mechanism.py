"""Our recipe compared with the paper's training, on the same network and number of steps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from vpr.config import RunConfig
from vpr.experiments.runner.experiment import Experiment, Scale
from vpr.experiments.runner.settings import run_config
from vpr.experiments.runner.training_runs import measure_training
from vpr.experiments.shared.moving_ball import (
    Variant,
    draw_training,
    f1_claims,
    scores,
)
from vpr.presets import preset
from vpr.utils.figures import OTHERS

PAPER = "0.97 ± 0.03 in 15,000 steps or more"
VARIANTS = {
    "ours": Variant("our recipe", OTHERS[0], PAPER),
    "paper": Variant("the paper's training", OTHERS[1], PAPER),
}


def variants(scale: Scale) -> dict[str, RunConfig]:
    config = run_config("moving-ball", scale)
    return {
        "ours": trained_like(config, preset("cpu/moving-ball")),
        "paper": trained_like(config, preset("paper/moving-ball")),
    }


def trained_like(config: RunConfig, other: RunConfig) -> RunConfig:
    """`config` with the stages and the training of `other`.

    The number of steps, the batch size and the length are those of `config`.
    """
    own = config.training
    training = replace(
        other.training,
        steps=own.steps,
        batch_size=own.batch_size,
        length=own.length,
        checkpoint_every=own.checkpoint_every,
    )
    return replace(config, training=training, stages=other.stages)


EXPERIMENT = Experiment(
    name="mechanism",
    paper="",
    title="Moving Ball: our recipe and the paper's training, same network, same number of steps",
    cost="one training run of cpu/moving-ball; ours is shared with criteria",
    variants=variants,
    measure=measure_training(scores),
    draw=partial(draw_training, variants=VARIANTS),
    claims=partial(f1_claims, variants=VARIANTS),
)
