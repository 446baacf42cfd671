"""Diagonal Gaussians N(μ, σ²): sampling, entropy, cross entropy and KL divergence."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from vpr.utils.tree import shapes_in_repr


@shapes_in_repr
class Belief(NamedTuple):
    """N(μ, σ²) with diagonal covariance over the last dimension."""

    mean: Tensor  # (..., S)
    std: Tensor  # (..., S)

    @classmethod
    def standard(cls, like: Tensor) -> Belief:
        """N(0, 1) with the shape, dtype and device of `like`."""
        return cls(torch.zeros_like(like), torch.ones_like(like))

    def rsample(self, noise: Tensor | None) -> Tensor:
        """μ + σ·ε, differentiable, for noise ε drawn by the caller; without noise, μ."""
        return self.mean if noise is None else torch.addcmul(self.mean, self.std, noise)

    def entropy(self) -> Tensor:
        """H = Σ ½ ln(2πe σ²)."""
        return (self.std.log() + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)


def cross_entropy(q: Belief, p: Belief) -> Tensor:
    """−E_q[ln p] = Σ ½ [ln(2π σ_p²) + (σ_q² + (μ_q − μ_p)²) / σ_p²]."""
    spread = (q.std**2 + (q.mean - p.mean) ** 2) / p.std**2
    return (p.std.log() + 0.5 * (math.log(2 * math.pi) + spread)).sum(-1)


def kl(q: Belief, p: Belief) -> Tensor:
    """D_KL(q ‖ p) = Σ ½ [(σ_q/σ_p)² + ((μ_q − μ_p)/σ_p)² − 1 − ln (σ_q/σ_p)²]."""
    ratio = (q.std / p.std) ** 2
    shift = ((q.mean - p.mean) / p.std) ** 2
    return 0.5 * (ratio + shift - 1 - ratio.log()).sum(-1)
