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
from vpr.evaluation.factor_readers import Reader, Reading

CHUNK, PIECE = 8, 50  # sequences and frames decoded at once, to bound the memory


@torch.no_grad()
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
    rows = []
    for part in torch.split(video.to(model.device, model.dtype), CHUNK):
        state: Any = model.observe(part).state
        pieces = []
        for start in range(0, frames, PIECE):
            steps = min(PIECE, frames - start)
            made = model.rollout(state, 1, steps, samples=samples, generator=generator)
            pieces.append(reader(made.frames))
            state = made.state
        rows.append(_joined(pieces, 1))
    return _joined(rows, 0)


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


def _joined(parts: list[Reading], axis: int) -> Reading:
    return {name: np.concatenate([part[name] for part in parts], axis) for name in parts[0]}
