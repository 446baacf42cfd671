"""A linear layer inside a loop whose weight gradient is computed with a single product.

Plain version: `torch.nn.Linear` called K times, compared in tests/fast/test_loop_linear.py.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class LoopLinear:
    """y_k = base_k + x_k Wᵀ, to be called for k = 0, 1, … in this order.

    Autograd would compute one product per step for the gradient of W and add them up, which takes
    as long as the rest of the backward pass. Here the steps only store their x_k. The gradients of
    all y_k arrive at `base`, where a single product gives the gradient of W.
    """

    def __init__(self, weight: Tensor, base: Tensor) -> None:  # (out, in), (K, B, out)
        self.inputs: list[Tensor] = []
        self.base = _WeightGradient.apply(base, weight, self.inputs).unbind(0)  # type: ignore[no-untyped-call]
        self.weight = weight.detach().t()

    @classmethod
    def from_layer(cls, weight: Tensor, bias: Tensor, steps: int, rows: int) -> LoopLinear:
        """An ordinary linear layer, for `steps` calls with `rows` rows each."""
        return cls(weight, bias.expand(steps, rows, -1))

    def __call__(self, x: Tensor) -> Tensor:  # (B, in) → (B, out)
        base = self.base[len(self.inputs)]
        self.inputs.append(x.detach())
        return torch.addmm(base, x, self.weight)


class _WeightGradient(torch.autograd.Function):
    """The identity of `base`; its backward pass also computes the gradient of the weight."""

    @staticmethod
    def forward(ctx: Any, base: Tensor, weight: Tensor, inputs: list[Tensor]) -> Tensor:
        ctx.inputs = inputs
        return base.view_as(base)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None]:
        (grad,) = grad_outputs  # (K, B, out)
        inputs = torch.cat(ctx.inputs).to(grad)  # under autocast their dtype may differ
        return grad, grad.flatten(0, 1).t() @ inputs, None
