"""The data of a film: rows of predicted or sampled frames next to true frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.model import VPR
from vpr.state import State

Frames = NDArray[np.float32]  # (K, *frame)


class Strip(NamedTuple):
    """A row: the last observed frame, and the frames after it."""

    label: str
    frames: Frames  # (1 + K, *frame), or fewer


class Film(NamedTuple):
    groups: tuple[tuple[Strip, ...], ...]  # from top to bottom
    facts: dict[str, Any]  # for JSON


class Observation(NamedTuple):
    """The state of a model after a sequence."""

    state: State
    decoded: Frames  # (1, *frame), the reconstruction of the last frame

    def strip(self, level: int, frames: Tensor) -> Strip:
        """The row of a level with frames (1, K, *frame)."""
        return Strip(f"L{level}", np.concatenate([self.decoded, _array(frames)]))


@torch.no_grad()
def observe_frames(model: VPR, frames: Frames) -> Observation:
    """Observe the frames (T, *frame) of one sequence."""
    trace = model.observe(torch.from_numpy(frames[None]).to(model.device, model.dtype))
    return Observation(trace.state, _array(model.reconstruct(trace.c0[:, -1:])))


def _array(frames: Tensor) -> Frames:  # (1, K, *frame) → (K, *frame)
    return frames[0].float().cpu().numpy()
