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
from vpr.evaluation.factor_readers import Reader, Reading, read_in_batches
from vpr.generation.generate import Below, rollout
from vpr.model import VPR


def read_rollout(
    model: VPR,
    reader: Reader,
    video: Tensor,
    level: int,
    steps: int,
    *,
    below: Below = "held",
    seed: int = 0,
) -> Reading:
    """Observe a video (B, T, *frame), roll out, and read each factor (B, K); see `rollout`."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        state = model.observe(part).state
        return reader(rollout(model, state, level, steps, generator=generator, below=below).frames)

    return read_in_batches(model, video, read)


def read_reconstruction(model: VPR | Baseline, reader: Reader, video: Tensor) -> Reading:
    """Each factor (B,) in the reconstruction of the last frame of a video (B, T, *frame)."""

    def read(part: Tensor) -> Reading:
        return reader(model.reconstruct(model.observe(part).c0[:, -1]))

    return read_in_batches(model, video, read)


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
