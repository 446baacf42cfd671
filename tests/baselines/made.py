"""Small baselines, and training runs of a second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from vpr.baselines import CWVAE, VTA, BaselineRun, CWVAEConfig, VTAConfig, make_baseline
from vpr.config import TrainingConfig
from vpr.data import MovingBall
from vpr.training.stages import Stage

SMALL: dict[str, Any] = {
    "frame": (3, 16, 16),
    "network": "folded",
    "width": 12,
    "state_size": 3,
    "channels": 4,
}
VTA_CONFIG = VTAConfig(**SMALL, max_segment_length=3, max_segments=2)
CWVAE_CONFIG = CWVAEConfig(**SMALL, intervals=(1, 2, 6), hidden=10)
CONFIGS = {"vta": VTA_CONFIG, "cw-vae": CWVAE_CONFIG}


def model(kind: str, seed: int = 0, **fields: object) -> VTA | CWVAE:
    """In float64."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make_baseline(replace(CONFIGS[kind], **fields)).double()  # type: ignore[arg-type]


def video(batch: int = 3, length: int = 13, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(batch, length, 3, 16, 16, generator=generator, dtype=torch.float64)


def noise(of: VTA | CWVAE, batch: int = 3, length: int = 13, seed: int = 0) -> torch.Tensor:
    return of.noise(batch, length, torch.Generator().manual_seed(seed))


def run(kind: str, steps: int, **training: object) -> BaselineRun:
    """Checkpoints every second step, logs every step."""
    settings: dict[str, Any] = {"learning_rate": 3e-3, "batch_size": 3, "length": 7} | training
    return BaselineRun(
        "tiny/test",
        model=CONFIGS[kind],
        data=MovingBall(size=16),
        training=TrainingConfig(steps=steps, checkpoint_every=2, log_every=1, **settings),
        stages=(Stage("train", 1.0),),
    )
