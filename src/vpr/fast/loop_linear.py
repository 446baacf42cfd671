"""A dense layer inside a loop, whose weight gets its gradient in one product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Repeated:
    """y_k = base_k + x_k Wᵀ, called for k = 0, 1, … in this order.

    Left to itself, autograd makes a product for W at every step and adds them up, which takes as
    long as the rest of the backward pass. Here the steps only note their x_k; the gradients of all
    y_k come together at `base`, and one product gives W its gradient.
    """

    def __init__(self, weight: Tensor, base: Tensor) -> None:  # (out, in), (K, B, out)
        self.inputs: list[Tensor] = []
        self.base = _OneProduct.apply(base, weight, self.inputs).unbind(0)  # type: ignore[no-untyped-call]
        self.weight = weight.detach().t()

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor, steps: int, rows: int) -> Repeated:
        """An ordinary layer, for `steps` calls with `rows` rows each."""
        return cls(weight, bias.expand(steps, rows, -1))

    def __call__(self, x: Tensor) -> Tensor:  # (B, in) → (B, out)
        base = self.base[len(self.inputs)]
        self.inputs.append(x.detach())
        return torch.addmm(base, x, self.weight)


class _OneProduct(torch.autograd.Function):
    """Hands `base` on; with its gradient comes the weight's."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, weight: Tensor, inputs: list[Tensor]) -> Tensor:
        ctx.inputs = inputs
        return base.view_as(base)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, Tensor, None]:
        (slope,) = above  # (K, B, out)
        inputs = torch.cat(ctx.inputs).to(slope)  # under autocast they may be of another type
        return slope, slope.flatten(0, 1).t() @ inputs, None
