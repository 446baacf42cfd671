"""Rows of frames that belong side by side, and the sequence that they start from."""

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
    """A row: the present, and what follows."""

    label: str
    frames: Frames  # (1 + K, *frame), or fewer where there is no more to show


class Film(NamedTuple):
    groups: tuple[tuple[Strip, ...], ...]  # from top to bottom
    facts: dict[str, Any]  # what is shown, for machines


class Scene(NamedTuple):
    """What a model made of a sequence."""

    state: State
    painted: Frames  # (1, *frame) the last frame, as the model sees it

    def strip(self, level: int, frames: Tensor) -> Strip:
        """Frames (1, K, *frame) of a level, after the last one."""
        return Strip(f"L{level}", np.concatenate([self.painted, _array(frames)]))


@torch.no_grad()
def watch(model: VPR, frames: Frames) -> Scene:
    """Frames (T, *frame) of one sequence."""
    trace = model.observe(torch.from_numpy(frames[None]).to(model.usual))
    return Scene(trace.state, _array(model.reconstruct(trace.c0[:, -1:])))


def _array(frames: Tensor) -> Frames:  # (1, K, *frame) → (K, *frame)
    return frames[0].float().cpu().numpy()
