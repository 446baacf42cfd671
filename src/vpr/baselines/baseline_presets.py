"""Named runs of the baselines: paper/… has the published sizes, cpu/… the cheaper image network.

A run of paper/… has the published learning rate and clipping. A run of cpu/… has the steps, the
frames per step and the learning rate of VPR's cpu preset on the same data, and β rises from 0 over
the first fifth. The temperature of VTA, published for 500,000 steps, is rescaled to fall as far
within the run.
"""

from __future__ import annotations

import math
from dataclasses import replace

from vpr.baselines.baseline_config import BaselineRun, CWVAEConfig, VTAConfig
from vpr.config import Data, TrainingConfig
from vpr.data import Synthetic
from vpr.errors import VPRError
from vpr.presets import preset
from vpr.training.stages import Stage

PUBLISHED_STAGES = (Stage("train", 1.0),)  # β = 1 and a constant learning rate
CPU_STAGES = (Stage("anneal", 0.2, beta=(0.0, 1.0)), Stage("train", 0.8))
VTA_FRAMES, CWVAE_FRAMES = 20, 100  # of a published training sequence
# `max_segment_length` for data whose events are longer than 8 frames, the default.
LONG_SEGMENT = 20
SYNTHETIC = Synthetic(values=20, order=1.0)  # the data of its main result
ALIGNED = {"moving-ball": (1, 5, 25), "3dsd": (1, 4, 8)}  # 5: the mean event of the ball
VTA_DATA = ("moving-ball", "3dsd", "bouncing-balls", "maze", "synthetic")


def _vta(scale: str, name: str) -> BaselineRun:
    data, of_vpr = _data(scale, name)
    batch, length = of_vpr.batch_size, of_vpr.length
    if scale == "paper":
        batch, length = 64, VTA_FRAMES
    rate = 5e-4 if scale == "paper" else of_vpr.learning_rate
    training = TrainingConfig(
        steps=of_vpr.steps, batch_size=batch, length=length, learning_rate=rate, clip=10.0
    )
    model = VTAConfig(
        frame=data.frame,
        max_segment_length=LONG_SEGMENT
        if name in ("maze", "synthetic")
        else VTAConfig.max_segment_length,
        max_segments=round(VTAConfig.max_segments * training.length / VTA_FRAMES),
        temperature_decay=math.exp(-5 / training.steps),
        # A frame of Synthetic is one number: σ is the distance of neighbouring values.
        obs_std=1 / (data.values - 1) if isinstance(data, Synthetic) else VTAConfig.obs_std,
    )
    return _run(scale, f"vta-{name}", data, model, training)


def _cwvae(scale: str, name: str, aligned: bool) -> BaselineRun:
    data, of_vpr = _data(scale, name)
    batch = 50 if scale == "paper" else round(of_vpr.batch_size * of_vpr.length / CWVAE_FRAMES)
    rate = 3e-4 if scale == "paper" else of_vpr.learning_rate
    training = TrainingConfig(
        steps=of_vpr.steps, batch_size=batch, length=CWVAE_FRAMES, learning_rate=rate
    )
    intervals = ALIGNED[name] if aligned else CWVAEConfig.intervals
    hidden = CWVAEConfig.hidden if scale == "paper" else 200
    model = CWVAEConfig(frame=data.frame, intervals=intervals, hidden=hidden)
    return _run(scale, f"cw-vae-{name}{'-aligned' if aligned else ''}", data, model, training)


def _data(scale: str, name: str) -> tuple[Data, TrainingConfig]:
    """The data, and the training of VPR on it."""
    if name == "synthetic":  # no preset of VPR
        return SYNTHETIC, preset(f"{scale}/moving-ball").training
    config = preset(f"{scale}/{name}")
    return config.data, config.training


def _run(
    scale: str, name: str, data: Data, model: VTAConfig | CWVAEConfig, training: TrainingConfig
) -> BaselineRun:
    if scale == "cpu":
        model = replace(model, network="folded", channels=16, colour_masks=4, layers=2)
    stages = CPU_STAGES if scale == "cpu" else PUBLISHED_STAGES
    return BaselineRun(f"{scale}/{name}", model=model, data=data, training=training, stages=stages)


BASELINES: dict[str, BaselineRun] = {
    config.preset: config
    for scale in ("paper", "cpu")
    for config in (
        *(_vta(scale, name) for name in VTA_DATA),
        *(_cwvae(scale, name, aligned) for name in ALIGNED for aligned in (False, True)),
    )
}


def baseline(name: str) -> BaselineRun:
    """The configuration of this name."""
    if name not in BASELINES:
        raise VPRError(f"no baseline {name!r}: choose one of {', '.join(BASELINES)}")
    return BASELINES[name]
