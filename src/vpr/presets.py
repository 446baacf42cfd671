"""Named configurations: paper/… has the paper's numbers, cpu/… learns on two cores in minutes."""

from __future__ import annotations

from dataclasses import replace

from vpr.config import ModelConfig, RunConfig, TrainingConfig
from vpr.data import MovingBall
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

_CPU_BALL = RunConfig(
    preset="cpu/moving-ball",
    model=ModelConfig(network="folded", channels=16, power=0.5),
    data=MovingBall(),
    training=TrainingConfig(
        steps=4000,
        learning_rate=1e-3,
        final_learning_rate=1e-4,
        decay_steps=1000,
        warmup_steps=100,
    ),
    schedule=Staged(),
)

PRESETS: dict[str, RunConfig] = {
    config.preset: config
    for config in (
        _PAPER_BALL,
        replace(_PAPER_BALL, preset="paper/moving-ball-slow", data=SLOW),
        _CPU_BALL,
        replace(_CPU_BALL, preset="cpu/moving-ball-slow", data=SLOW),
    )
}


def preset(name: str) -> RunConfig:
    """The configuration of this name."""
    if name not in PRESETS:
        raise VPRError(f"no preset {name!r}: choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
