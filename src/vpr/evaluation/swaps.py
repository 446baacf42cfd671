"""Which level represents a factor: replace its state by that of another sequence, and decode."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.factor_readers import Reader, Reading, concatenate
from vpr.generation.generate import decode
from vpr.model import VPR

CHUNK = 32  # sequences per batch, to bound the memory


class Swap(NamedTuple):
    """The value that is decoded, as shares of the pairs of sequences that differ in a factor.

    A level that alone represents the factor has follows = 1, one that does not has keeps = 1.
    """

    keeps: float  # value of the sequence itself
    follows: float  # value of the sequence that the state is from


@torch.no_grad()
def swaps(model: VPR, reader: Reader, video: Tensor, true: Reading, level: int) -> dict[str, Swap]:
    """After a video (B, T, *frame), replace s of one level by that of the sequence before.

    All other levels keep their s. `true` are the factors (B,) at the last frame.
    """
    states = [
        model.observe(part).state
        for part in torch.split(video.to(model.device, model.dtype), CHUNK)
    ]
    other = torch.cat([state.blocks[level - 1].s for state in states]).roll(1, 0)
    parts = []
    for state, s in zip(states, torch.split(other, CHUNK), strict=True):
        parts.append(reader(decode(model, state, level, s.unsqueeze(1))[:, 0]))
    decoded = concatenate(parts)
    return {name: _swap_shares(decoded[name], values) for name, values in true.items()}


def _swap_shares(decoded: NDArray[Any], own: NDArray[Any]) -> Swap:
    other = np.roll(own, 1)
    differ = own != other
    pairs = max(int(differ.sum()), 1)
    keeps, follows = ((decoded == each)[differ].sum() / pairs for each in (own, other))
    return Swap(float(keeps), float(follows))
