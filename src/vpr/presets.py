"""Named configurations: paper/… has the paper's numbers, cpu/… learns on one core in minutes.

All cpu/… presets share one recipe (`RECIPE` and `_TRAINING`). They differ only in the dataset, the
number of levels, the likelihood, the size of batches and networks, and the step limit. A quarter of
the frames is decoded in each step.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Literal

from vpr.config import Data, ModelConfig, RunConfig, TrainingConfig
from vpr.data import (
    BouncingBalls,
    MiniworldMaze,
    MovingBall,
    NestedWorld,
    ThreeDShapesDynamic,
    Vectors,
    Video,
)
from vpr.errors import VPRError
from vpr.training.stages import Stage

SLOW = MovingBall(speed=2.5)

# The paper: β rises from 0 to 1 over the first 3,000 of 15,000 steps; both criteria from the start.
PAPER_STAGES = (
    Stage("anneal", 0.2, beta=(0.0, 1.0), decay=True),
    Stage("train", 0.8, decay=True),
)

# See docs/guide/training.md.
RECIPE = (
    Stage(
        "random",
        0.3,
        until_explained=0.7,
        beta_ratio=(0.2, 0.2),
        criteria=(),
        random_updates=0.3,
        objectives=("persistence",),
    ),
    Stage(
        "detect",
        0.2,
        beta_ratio=(0.2, 0.45),
        criteria=("CU",),
        random_updates=0.3,
        objectives=("persistence",),
    ),
    Stage("rise", 0.15, beta_ratio=(0.45, 1.0), objectives=("persistence",)),
    Stage("train", 0.35, decay=True, objectives=("persistence", "overshooting", "bottleneck")),
)
_TRAINING = TrainingConfig(
    learning_rate=1e-3, final_learning_rate=0.0, warmup_steps=100, clip=200.0, frame_nats=200.0
)


def _paper(name: str, data: Data, model: ModelConfig, length: int = 15) -> RunConfig:
    training = TrainingConfig(length=length, kl_balancing=True)
    name = f"paper/{name}"
    return RunConfig(name, model=model, data=data, training=training, stages=PAPER_STAGES)


def _cpu(
    name: str,
    data: Data,
    *,
    steps: int,
    batch_size: int = 16,
    length: int = 25,
    levels: int = 3,
    likelihood: Literal["bernoulli", "gaussian"] = "gaussian",
    state_size: int = 20,
) -> RunConfig:
    model = ModelConfig(
        levels=levels,
        state_size=state_size,
        layers=2,
        frame=data.frame,
        network="folded",
        channels=16,
        colour_masks=4,
        likelihood=likelihood,
    )
    training = replace(
        _TRAINING, steps=steps, batch_size=batch_size, length=length, decoded_frames=length // 4
    )
    return RunConfig(f"cpu/{name}", model=model, data=data, training=training, stages=RECIPE)


_cpu_balls = partial(_cpu, levels=2, likelihood="bernoulli")
_BALL = ModelConfig()
_ROOM = ModelConfig(levels=3, likelihood="gaussian")
PRESETS: dict[str, RunConfig] = {
    config.preset: config
    for config in (
        _paper("moving-ball", MovingBall(), _BALL),
        _paper("moving-ball-slow", SLOW, _BALL),
        _paper("3dsd", ThreeDShapesDynamic(), _ROOM, length=50),
        _paper("bouncing-balls", BouncingBalls(), ModelConfig(state_size=60, width=1024)),
        # In the paper every hallway has a colour of its own.
        _paper("maze", MiniworldMaze(least_stay=1, most_stay=1), _ROOM, length=50),
        _cpu_balls("moving-ball", MovingBall(), steps=1600),
        _cpu_balls("moving-ball-slow", SLOW, steps=1600),
        _cpu_balls("bouncing-balls", BouncingBalls(), steps=3000, state_size=60),
        _cpu("3dsd", ThreeDShapesDynamic(), steps=2400, batch_size=8, length=50),
        _cpu("maze", MiniworldMaze(), steps=3200, batch_size=8, length=50),
        _cpu("nested-world", NestedWorld(), steps=2400, levels=NestedWorld().levels),
        _cpu("video", Video(), steps=2400),
        # `vpr train` takes the number of features from the file.
        _cpu("vectors", Vectors(), steps=2400),
    )
}


def preset(name: str) -> RunConfig:
    """The configuration of this name."""
    if name not in PRESETS:
        like = [each for each in (f"cpu/{name}", f"paper/{name}") if each in PRESETS]
        close = like or get_close_matches(name, PRESETS, 1, 0.8)
        if close:
            raise VPRError(f"no preset {name!r}: did you mean {close[0]}? vpr train --help has all")
        raise VPRError(f"no preset {name!r}: choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
