"""p(o | s): what a pixel is worth, in nats."""

from __future__ import annotations

from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from vpr.errors import VPRError


class Likelihood(Protocol):
    @property
    def loudness(self) -> float:
        """How large an untrained decoder's outputs may be around `level`, beside logits."""
        ...

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

    loudness = 1.0

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        return _BernoulliNLL.apply(output, target)  # type: ignore[no-any-return, no-untyped-call]

    def mean(self, output: Tensor) -> Tensor:
        return output.sigmoid()

    def level(self, mean: Tensor) -> Tensor:
        return torch.logit(mean, eps=1e-3)


class _BernoulliNLL(torch.autograd.Function):
    """Σ softplus(l) − l·o with its gradient σ(l) − o, a few frames at a time.

    Pieces that stay in the cache cost a third of PyTorch's passes over the whole video.
    """

    FRAMES = 16  # a piece

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        gradient = torch.empty_like(logits)
        total = logits.new_zeros(())
        pieces = (torch.split(part, _BernoulliNLL.FRAMES) for part in (logits, target, gradient))
        for some, wanted, slope in zip(*pieces, strict=True):
            total += (F.softplus(some) - some * wanted).sum()
            torch.sigmoid(some, out=slope).sub_(wanted)
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * above[0], None


class Gaussian:
    """Squared error: a Gaussian of unit variance, without its constant."""

    loudness = 0.1

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
