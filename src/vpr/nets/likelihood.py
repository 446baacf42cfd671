"""Likelihoods p(o | s) of frames: Bernoulli and Gaussian."""

from __future__ import annotations

from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from vpr.errors import VPRError


class Likelihood(Protocol):
    @property
    def output_scale(self) -> float:
        """Scale of the outputs of an untrained decoder around `level`, relative to logits."""
        ...

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        """−ln p(target | output), summed over everything."""
        ...

    def mean(self, output: Tensor) -> Tensor:
        """The expected frame for this output, in [0, 1]."""
        ...

    def level(self, mean: Tensor) -> Tensor:
        """The output whose mean is `mean`: the initial output of an untrained decoder."""
        ...


class Bernoulli:
    """Binary cross entropy on logits."""

    output_scale = 1.0

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        return _BernoulliNLL.apply(output, target)  # type: ignore[no-any-return, no-untyped-call]

    def mean(self, output: Tensor) -> Tensor:
        return output.sigmoid()

    def level(self, mean: Tensor) -> Tensor:
        return torch.logit(mean, eps=1e-3)


class _BernoulliNLL(torch.autograd.Function):
    """Σ softplus(l) − l·o with its gradient σ(l) − o, a few frames at a time.

    Pieces that fit into the CPU cache take a third of the time of passes over the whole video.
    Plain version: `F.binary_cross_entropy_with_logits`, compared in tests/nets/test_likelihood.py.
    """

    FRAMES = 16  # per piece

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        gradient = torch.empty_like(logits)
        total = logits.new_zeros(())
        pieces = (torch.split(part, _BernoulliNLL.FRAMES) for part in (logits, target, gradient))
        for logit, frame, grad in zip(*pieces, strict=True):
            total += (F.softplus(logit) - logit * frame).sum()
            torch.sigmoid(logit, out=grad).sub_(frame)
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0], None


class Gaussian:
    """Squared error: a Gaussian with unit variance, without the constant term."""

    output_scale = 0.1

    def nll(self, output: Tensor, target: Tensor) -> Tensor:
        return 0.5 * F.mse_loss(output, target, reduction="sum")

    def mean(self, output: Tensor) -> Tensor:
        return output

    def level(self, mean: Tensor) -> Tensor:
        return mean


def make_likelihood(name: str) -> Likelihood:
    """The likelihood with this name."""
    if name == "bernoulli":
        return Bernoulli()
    if name == "gaussian":
        return Gaussian()
    raise VPRError(f"likelihood must be 'bernoulli' or 'gaussian', got {name!r}")
