"""Factors in frames that a baseline predicts over physical time, compared with the truth.

Factors of these datasets go through a fixed cycle. An event is a change of the decoded factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.baselines import CWVAE, VTA
from vpr.evaluation.factor_readers import Reader, Reading, concatenate, read_in_batches

PIECE = 50  # frames decoded at once, to bound the memory


def read_open_loop(
    model: VTA | CWVAE,
    reader: Reader,
    video: Tensor,
    frames: int,
    *,
    samples: bool = True,
    seed: int = 0,
) -> Reading:
    """Observe a video (B, T, *frame), predict `frames` frames, and read each factor (B, F)."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        state: Any = model.observe(part).state
        pieces = []
        for start in range(0, frames, PIECE):
            steps = min(PIECE, frames - start)
            made = model.rollout(state, 1, steps, samples=samples, generator=generator)
            pieces.append(reader(made.frames))
            state = made.state
        return concatenate(pieces, axis=1)

    return read_in_batches(model, video, read)


def events_in(decoded: NDArray[Any], last: NDArray[Any], count: int) -> NDArray[Any]:
    """The values (B, count) after each change of a factor (B, F) that was `last` (B,) before.

    −1 where there are fewer changes.
    """
    before = np.concatenate([last[:, None], decoded[:, :-1]], 1)
    found = np.full((len(decoded), count), -1)
    for row, values, changed in zip(found, decoded, decoded != before, strict=True):
        events = values[changed][:count]
        row[: len(events)] = events
    return found
