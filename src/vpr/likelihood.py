"""p(o | s): what a pixel is worth, in nats."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.errors import VPRError


class Likelihood(Protocol):
    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        """−ln p(target | output), summed over everything."""
        ...

    def mean(self, output: Tensor) -> Tensor:
        """The frame that the output stands for, in [0, 1]."""
        ...

    def level(self, mean: Tensor) -> Tensor:
        """The output that stands for this mean brightness: where an untrained decoder starts."""
        ...


class Bernoulli:
    """Binary cross entropy on logits."""

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(output, target, reduction="sum")

    def mean(self, output: Tensor) -> Tensor:
        return output.sigmoid()

    def level(self, mean: Tensor) -> Tensor:
        return torch.logit(mean, eps=1e-3)


class Gaussian:
    """Squared error: a Gaussian of unit variance, without its constant."""

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        return 0.5 * F.mse_loss(output, target, reduction="sum")

    def mean(self, output: Tensor) -> Tensor:
        return output

    def level(self, mean: Tensor) -> Tensor:
        return mean


def make_likelihood(name: str) -> Likelihood:
    if name == "bernoulli":
        return Bernoulli()
    if name == "gaussian":
        return Gaussian()
    raise VPRError(f"likelihood must be 'bernoulli' or 'gaussian', got {name!r}")
