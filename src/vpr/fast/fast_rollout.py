"""K steps of one level by its prior: d → p(s | d, c) → s → the next d.

Used by `vpr.generation.generate.rollout`. One sequence on the CPU is computed with numpy
(`rollout_numpy`), everything else with PyTorch (`rollout_batch`).

Plain version: `Prior` and `Transition` called in turn, compared in tests/fast/test_fast_rollout.py.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block
from vpr.fast.rollout_batch import BatchRollout
from vpr.fast.rollout_numpy import NumpyRollout
from vpr.fast.rollout_weights import RolloutWeights


class RolloutSteps(NamedTuple):
    """K steps of one level."""

    p: Belief  # (K, B, S)
    s: Tensor  # (K, B, S)
    d: Tensor  # (B, D) of the last step
    d_next: Tensor  # (B, D)
    p_next: Belief  # (B, S) p(s | d_next, c)


class FastRollout:
    """Steps of one level under a constant c (B, D), with the weights at construction time."""

    def __init__(self, block: Block, c: Tensor) -> None:
        self.size, self.min_std = block.state_size, block.p.head.min_std
        in_numpy = c.device.type == "cpu" and c.dtype in (torch.float32, torch.float64)
        implementation = NumpyRollout if len(c) == 1 and in_numpy else BatchRollout
        self.loop = implementation(RolloutWeights.of(block, c))

    def run(self, d: Tensor, steps: int, noise: Tensor | None) -> RolloutSteps:
        """From the d (B, D) predicted for the first step; noise (K, B, S)."""
        outputs, d, d_next = self.loop.run(d, steps, noise)
        mean, raw, _, samples = torch.split(outputs, self.size, -1)
        std = F.softplus(raw).add_(self.min_std)
        p, p_next = Belief(mean[:-1], std[:-1]), Belief(mean[-1], std[-1])
        return RolloutSteps(p, p.mean if noise is None else samples[:-1], d, d_next, p_next)
