"""d → p(s | d, c) → s → the next d, for one sequence or several.

The numbers are those of `Prior` and `Transition`, but for rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block
from vpr.fast.rollout_batch import Rows
from vpr.fast.rollout_numpy import Solo
from vpr.fast.rollout_weights import Weights


class Jumps(NamedTuple):
    """K jumps, step by step."""

    p: Belief  # (K, B, S)
    s: Tensor  # (K, B, S)
    d: Tensor  # (B, D) of the last jump
    d_next: Tensor  # (B, D)
    p_next: Belief  # (B, S) p(s | d_next, c)


class Jumper:
    """Jumps of a level under one c (B, D), with the weights of now."""

    def __init__(self, block: Block, c: Tensor) -> None:
        self.size, self.min_std = block.state_size, block.p.head.min_std
        known = c.device.type == "cpu" and c.dtype in (torch.float32, torch.float64)  # to numpy
        self.loop = (Solo if len(c) == 1 and known else Rows)(Weights.of(block, c))

    def jump(self, d: Tensor, steps: int, noise: Tensor | None) -> Jumps:
        """From the d (B, D) predicted for the first; noise (K, B, S)."""
        told, d, d_next = self.loop.follow(d, steps, noise)
        mean, raw, _, drawn = torch.split(told, self.size, -1)
        std = F.softplus(raw).add_(self.min_std)
        p, p_next = Belief(mean[:-1], std[:-1]), Belief(mean[-1], std[-1])
        return Jumps(p, p.mean if noise is None else drawn[:-1], d, d_next, p_next)
