"""Factors in the frames that a level predicts from event to event, compared with the truth.

The factors of these datasets follow a fixed cycle, so after k events they are k places further.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.baselines.baseline_model import Baseline
from vpr.evaluation.factor_readers import Reader, Reading, concatenate
from vpr.generation.generate import Below, rollout
from vpr.model import VPR

CHUNK = 8  # sequences per batch, to bound the memory


@torch.no_grad()
def read_rollout(
    model: VPR,
    reader: Reader,
    video: Tensor,
    level: int,
    steps: int,
    *,
    samples: bool = False,
    below: Below = "held",
    seed: int = 0,
) -> Reading:
    """Observe a video (B, T, *frame), roll out, and read each factor (B, K); see `rollout`."""
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for part in torch.split(video.to(model.device, model.dtype), CHUNK):
        state = model.observe(part).state
        made = rollout(
            model, state, level, steps, samples=samples, generator=generator, below=below
        )
        parts.append(reader(made.frames))
    return concatenate(parts)


@torch.no_grad()
def read_reconstruction(model: VPR | Baseline, reader: Reader, video: Tensor) -> Reading:
    """Each factor (B,) in the reconstruction of the last frame of a video (B, T, *frame)."""
    videos = torch.split(video.to(model.device, model.dtype), CHUNK)
    return concatenate([reader(model.reconstruct(model.observe(v).c0[:, -1])) for v in videos])


def in_order(decoded: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Whether prediction k of (B, K) is k places after the last value (B,) in the cycle."""
    k = np.arange(1, decoded.shape[1] + 1)
    return np.asarray(decoded == (last[:, None] + k) % values)


def advances_by_one(decoded: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Whether each prediction (B, K) is one place after the previous one; an error counts once."""
    before = np.concatenate([last[:, None], decoded[:, :-1]], 1)
    return np.asarray((decoded == (before + 1) % values) & (before >= 0))


def unchanged(decoded: NDArray[Any], last: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each prediction (B, K) still has the last value (B,)."""
    return np.asarray(decoded == last[:, None])
