"""Named configurations: paper/… has the paper's numbers, cpu/… learns on two cores in minutes."""

from __future__ import annotations

from dataclasses import replace

from vpr.config import ModelConfig, RunConfig, TrainingConfig
from vpr.data import BouncingBalls, MiniworldMaze, MovingBall, ThreeDShapesDynamic, Video
from vpr.errors import VPRError
from vpr.schedule import Linear, Staged

SLOW = MovingBall(speed=2.5)

_PAPER_BALL = RunConfig(
    preset="paper/moving-ball",
    model=ModelConfig(),
    data=MovingBall(),
    training=TrainingConfig(kl_balancing=True, clip=10_000.0),
    schedule=Linear(),
)

_CPU_TRAINING = TrainingConfig(
    steps=4000,
    learning_rate=1e-3,
    final_learning_rate=1e-4,
    decay_steps=1000,
    warmup_steps=100,
)
# One colour in one sequence of a hundred was painted wrong after a jump (seed 2), and next to none
# is when the rate falls to 0 in the end. These steps are called long, and are as long as any other.
_CPU_BALL = RunConfig(
    preset="cpu/moving-ball",
    model=ModelConfig(network="folded", channels=16, power=0.5, layers=2),
    data=MovingBall(),
    training=replace(_CPU_TRAINING, long_steps=150, long_length=15, landing_steps=75),
    schedule=Staged(),
)

_PAPER_SHAPES = RunConfig(
    preset="paper/3dsd",
    model=ModelConfig(levels=3, likelihood="gaussian"),
    data=ThreeDShapesDynamic(),
    training=replace(_PAPER_BALL.training, length=50),
    schedule=Linear(),
)

# Where the weight of the reconstruction comes from: not to know a ball's colour costs 220 nats
# (Bernoulli), 14 after Staged's usual weight of 1/16; not to know an object's hue costs 107 nats
# (Gaussian), 45 for the smallest. At 1/4 that is 27 and 11: what the top level is there for is
# worth about the same to it. Floor and wall, four times as large, are worth more anyway.
# The lift sorts floor and wall at once; moved up by a level it sorts wall and object.
_SHAPES_SCHEDULE = Staged(
    reconstruction=1 / 4,
    lift=50.0,
    settle_after=300,
    settle_patience=1,
    level_one_steps=100,
    squeeze_steps=800,
)
_THREE_LEVELS = replace(_CPU_BALL.model, levels=3, likelihood="gaussian", tints=4)
_THREE_LEVELS_TRAINING = replace(
    _CPU_TRAINING,
    batch_size=24,
    length=25,
    steps=8000,
    settling_length=16,
    sorting_length=12,
    clip=1000.0,  # squared errors begin with longer gradients than cross entropies
)
# With two layers the object is learned soon, in levels 2 and 3 alike; the rent of level 2 is due
# twice as often, and moves it up. In the end, jumps: level 3 has 3 events in 25 frames and 200 in
# 32 times 50, and without recognition level 2 paints a remainder of the object over them. They fall
# into place as the rate falls to 0. Who can foresee everything need not look, and overlooks small
# objects: so half of the long sequences begin anew with every part, and three updates of ten are
# read as if nothing had changed.
_CPU_SHAPES = RunConfig(
    preset="cpu/3dsd",
    model=_THREE_LEVELS,
    data=ThreeDShapesDynamic(),
    training=replace(
        _THREE_LEVELS_TRAINING,
        decay_steps=900,
        long_steps=1200,
        long_parts=32,
        long_painted=0.25,
        long_fresh=0.5,
        stale=0.3,
        landing_steps=800,
        recognition=2.0,
        foresight=1.0,
        rehearsal_steps=1500,
    ),
    schedule=replace(_SHAPES_SCHEDULE, shift_steps=350, rent=0.3, rent_fade=400),
)

_PAPER_BALLS = replace(
    _PAPER_BALL,
    preset="paper/bouncing-balls",
    model=ModelConfig(state_size=60, width=1024),
    data=BouncingBalls(),
)

# Which colour is on which ball comes late: with four layers in each network balls are still grey
# after 3,000 steps. Short sequences make steps cheap; a curve that still falls has not settled.
_CPU_BALLS = replace(
    _CPU_BALL,
    preset="cpu/bouncing-balls",
    model=replace(_CPU_BALL.model, state_size=40, tints=4),
    data=BouncingBalls(),
    training=replace(_CPU_TRAINING, steps=12_000, settling_length=3),
    schedule=Staged(settle_window=500, settle_tolerance=0.1),
)

# In the paper every hallway has a colour of its own.
_PAPER_MAZE = replace(
    _PAPER_SHAPES, preset="paper/maze", data=MiniworldMaze(least_stay=1, most_stay=1)
)
# The settings that 3DSD had before two layers, rent and long sequences: its run is that old.
_CPU_MAZE = RunConfig(
    preset="cpu/maze",
    model=replace(_THREE_LEVELS, layers=4),
    data=MiniworldMaze(),
    training=replace(_THREE_LEVELS_TRAINING, decay_steps=1200),
    schedule=_SHAPES_SCHEDULE,
)

# Footage of one's own: the path is the user's. Where a room follows a ball, what is usual in one
# scene is not in the next, and CU fires all through the louder one, at every level. So the top is
# held while features are sorted: it learns what lasts. It pays more than elsewhere, so as to hold
# no more than that. Cuts are rare and large: a mean of squares tells them from all else.
_CPU_VIDEO = RunConfig(
    preset="cpu/video",
    model=replace(_THREE_LEVELS, power=2.0, window=400),
    data=Video(),
    training=replace(
        _THREE_LEVELS_TRAINING,
        sorting_length=20,
        decay_steps=1600,
        long_steps=100,
        recognition=2.0,
        recognition_early=True,
    ),
    schedule=replace(_SHAPES_SCHEDULE, further=4.0, hold=True, sorting_power=1.0, rent=0.1),
)

PRESETS: dict[str, RunConfig] = {
    config.preset: config
    for config in (
        _PAPER_BALL,
        replace(_PAPER_BALL, preset="paper/moving-ball-slow", data=SLOW),
        _CPU_BALL,
        replace(_CPU_BALL, preset="cpu/moving-ball-slow", data=SLOW, training=_CPU_TRAINING),
        _PAPER_SHAPES,
        _CPU_SHAPES,
        _PAPER_BALLS,
        _CPU_BALLS,
        _PAPER_MAZE,
        _CPU_MAZE,
        _CPU_VIDEO,
    )
}


def preset(name: str) -> RunConfig:
    """The configuration of this name."""
    if name not in PRESETS:
        raise VPRError(f"no preset {name!r}: choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
