"""On which level does a factor live: give a level the state of another sequence, and look."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.readers import Reader, Reading
from vpr.generation.generate import decode
from vpr.model import VPR

CHUNK = 32  # sequences at once: bounds the memory


class Swap(NamedTuple):
    """Of the pairs of sequences that differ in a factor, whose is painted?

    A level that holds all of it and alone has follows = 1, one that holds none keeps = 1.
    """

    keeps: float  # the sequence's own
    follows: float  # that of the sequence whose state was put in


@torch.no_grad()
def swaps(model: VPR, reader: Reader, video: Tensor, true: Reading, level: int) -> dict[str, Swap]:
    """After a video (B, T, *frame), each sequence gets s of the one before it, at one level.

    All other levels hold their s. `true` are the factors (B,) at the last frame that count.
    """
    states = [
        model.observe(part).state
        for part in torch.split(video.to(model.device, model.dtype), CHUNK)
    ]
    other = torch.cat([state.blocks[level - 1].s for state in states]).roll(1, 0)
    parts = []
    for state, s in zip(states, torch.split(other, CHUNK), strict=True):
        parts.append(reader(decode(model, state, level, s.unsqueeze(1))[:, 0]))
    painted = {name: np.concatenate([part[name] for part in parts]) for name in true}
    return {name: _whose(painted[name], values) for name, values in true.items()}


def _whose(painted: NDArray[Any], own: NDArray[Any]) -> Swap:
    theirs = np.roll(own, 1)
    differ = own != theirs
    pairs = max(int(differ.sum()), 1)
    keeps, follows = ((painted == each)[differ].sum() / pairs for each in (own, theirs))
    return Swap(float(keeps), float(follows))
