"""What a level paints as it jumps from event to event, read off and held against the truth.

In these datasets a factor steps through a fixed cycle, so after k events it is k places on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.readers import Reader, Reading
from vpr.generation.generate import Below, rollout
from vpr.model import VPR

CHUNK = 8  # sequences at once: bounds the memory


@torch.no_grad()
def read_jumps(
    model: VPR,
    reader: Reader,
    video: Tensor,
    level: int,
    jumps: int,
    *,
    samples: bool = False,
    below: Below = "held",
    seed: int = 0,
) -> Reading:
    """Watch a video (B, T, *frame), jump, and read each factor (B, K). Options as of `rollout`."""
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for part in torch.split(video.to(model.device, model.dtype), CHUNK):
        state = model.observe(part).state
        made = rollout(
            model, state, level, jumps, samples=samples, generator=generator, below=below
        )
        parts.append(reader(made.frames))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@torch.no_grad()
def read_present(model: VPR, reader: Reader, video: Tensor) -> Reading:
    """What the model makes of the last frame of a video (B, T, *frame): each factor (B,)."""
    parts = []
    for part in torch.split(video.to(model.device, model.dtype), CHUNK):
        parts.append(reader(model.reconstruct(model.observe(part).c0[:, -1])))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def in_order(painted: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Is jump k, of (B, K), k places on from the last value seen (B,), in a cycle of so many?"""
    k = np.arange(1, painted.shape[1] + 1)
    return np.asarray(painted == (last[:, None] + k) % values)


def one_on(painted: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Is each jump (B, K) one place on from what was painted before it? A slip counts once."""
    before = np.concatenate([last[:, None], painted[:, :-1]], 1)
    return np.asarray((painted == (before + 1) % values) & (before >= 0))


def held(painted: NDArray[Any], last: NDArray[Any]) -> NDArray[np.bool_]:
    """Is it still, at each jump (B, K), what it was when last seen (B,)?"""
    return np.asarray(painted == last[:, None])
