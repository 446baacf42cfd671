"""Dense networks: layers with initialisation, residual stacks, prior, posterior, transition."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from vpr.beliefs import Belief

SLOPE = 0.3  # of every Leaky ReLU, the default of Keras; the paper does not give one


def activate(x: Tensor) -> Tensor:
    return F.leaky_relu(x, SLOPE)


def initialise(layer: nn.Module, fan_in: int, gain: float = 1.0) -> None:
    """He initialisation for Leaky ReLU, with the number of inputs that a unit has."""
    std = gain * (2 / ((1 + SLOPE**2) * fan_in)) ** 0.5
    nn.init.normal_(layer.weight, std=std)  # type: ignore[arg-type]
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)  # type: ignore[arg-type]


def dense(inputs: int, outputs: int, gain: float = 1.0) -> nn.Linear:
    """A linear layer, initialised by `initialise`."""
    layer = nn.Linear(inputs, outputs)
    initialise(layer, inputs, gain)
    return layer


class Layers(nn.Module):
    """Fully connected layers with Leaky ReLU between them; `gain` scales the last layer."""

    def __init__(self, *sizes: int, gain: float = 1.0) -> None:
        super().__init__()
        gains = [1.0] * (len(sizes) - 2) + [gain]
        pairs = zip(pairwise(sizes), gains, strict=True)
        self.layers = nn.ModuleList(dense(a, b, each) for (a, b), each in pairs)

    def forward(self, x: Tensor) -> Tensor:  # (..., first size) → (..., last size)
        first, *others = self.layers
        x = first(x)
        for layer in others:  # calling the module would cost as much as a small product
            x = F.linear(activate(x), layer.weight, layer.bias)  # type: ignore[arg-type]
        return x


class Stack(Layers):
    """The building block of the paper: `layers` layers (four in the paper) of width `hidden`."""

    def __init__(
        self, inputs: int, hidden: int, outputs: int, layers: int, gain: float = 1.0
    ) -> None:
        super().__init__(inputs, *[hidden] * (layers - 1), outputs, gain=gain)


class ResidualStack(nn.Module):
    """f(x, …) + 0.1·x, where f has the width of x; further inputs are concatenated to x."""

    def __init__(self, width: int, layers: int, extra: int = 0) -> None:
        super().__init__()
        self.net = Stack(width + extra, width, width, layers)

    def forward(self, x: Tensor, *extra: Tensor) -> Tensor:  # (..., width) → (..., width)
        return torch.add(self.net(torch.cat([x, *extra], -1)), x, alpha=0.1)


class LoopLinear:
    """y_k = base_k + x_k Wᵀ, to be called for k = 0, 1, … in this order.

    Autograd would compute one product per step for the gradient of W and add them up, which takes
    as long as the rest of the backward pass. Here the steps only store their x_k. The gradients of
    all y_k arrive at `base`, where a single product gives the gradient of W.

    Plain version: `torch.nn.Linear` called K times, compared in tests/nets/test_loop_linear.py.
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


class GaussianHead(nn.Module):
    """Layers to a diagonal Gaussian of size S: 2·S outputs, σ = floor + softplus(·).

    `start` is σ − floor before training. With a small initial σ of the posterior, reconstruction is
    learned twice as fast.
    """

    def __init__(self, *sizes: int, min_std: float, start: float) -> None:
        super().__init__()
        self.net = Layers(*sizes)
        self.min_std = min_std
        with torch.no_grad():
            self.net.layers[-1].bias[sizes[-1] // 2 :] = math.log(math.expm1(start))  # type: ignore[operator]

    def forward(self, x: Tensor) -> Belief:  # (..., inputs) → Belief (..., S)
        return self._belief(self.net(x))

    def in_loop(self, steps: int, rows: int) -> Callable[[Tensor], Belief]:
        """`forward` for a loop of `steps` steps over B = `rows` sequences; see `LoopLinear`."""
        first, *others = (
            LoopLinear.from_layer(m.weight, m.bias, steps, rows)  # type: ignore[arg-type]
            for m in self.net.layers
        )

        def step(x: Tensor) -> Belief:
            x = first(x)
            for layer in others:
                x = layer(activate(x))
            return self._belief(x)

        return step

    def _belief(self, output: Tensor) -> Belief:  # (..., 2·S) → Belief (..., S)
        mean, raw = output.chunk(2, -1)
        return Belief(mean, self.min_std + F.softplus(raw))


class Prior(nn.Module):
    """p_θ(s | d, c)."""

    def __init__(self, width: int, state_size: int, layers: int, min_std: float) -> None:
        super().__init__()
        sizes = 2 * width, *[width] * (layers - 1), 2 * state_size
        self.head = GaussianHead(*sizes, min_std=min_std, start=0.7)

    def forward(self, d: Tensor, c: Tensor) -> Belief:  # (..., D) twice → Belief (..., S)
        return self.head(torch.cat([d, c], -1))  # type: ignore[no-any-return]


class Posterior(nn.Module):
    """q_φ(s | x, d, c).

    The first layer is the sum of one linear map per input. The contribution of x is therefore
    computed for all frames in one product, and those of d and c once per update.
    """

    def __init__(
        self, compressed: int, width: int, state_size: int, layers: int, min_std: float
    ) -> None:
        super().__init__()
        self.of_x = nn.Linear(compressed, width)
        self.of_d = nn.Linear(width, width, bias=False)
        self.of_c = nn.Linear(width, width, bias=False)
        for layer in (self.of_x, self.of_d, self.of_c):
            initialise(layer, compressed + 2 * width)
        sizes = *[width] * (layers - 1), 2 * state_size
        self.head = GaussianHead(*sizes, min_std=min_std, start=0.13)

    def forward(self, x: Tensor, d: Tensor, c: Tensor) -> Belief:
        return self.given(self.of_x(x) + self.of_d(d) + self.of_c(c))

    def given(self, first: Tensor) -> Belief:  # (..., H) → Belief (..., S)
        """The posterior from the sum of the first layer."""
        return self.head(activate(first))  # type: ignore[no-any-return]


class Transition(nn.Module):
    """f_tran: d_{τ+1} = GRU(dense(s_τ), d_τ); the extra dense layer has |s| neurons."""

    def __init__(self, state_size: int, width: int) -> None:
        super().__init__()
        self.dense = dense(state_size, state_size)
        self.gru = nn.GRUCell(state_size, width)

    def forward(self, s: Tensor, d: Tensor) -> Tensor:  # (B, S), (B, D) → (B, D)
        return self.gru(activate(self.dense(s)), d)  # type: ignore[no-any-return]

    def in_loop(self, steps: int, rows: int) -> Callable[[Tensor, Tensor], Tensor]:
        """`forward` for a loop of `steps` steps over B = `rows` sequences; see `LoopLinear`."""
        to_dense = LoopLinear.from_layer(self.dense.weight, self.dense.bias, steps, rows)
        from_s = LoopLinear.from_layer(self.gru.weight_ih, self.gru.bias_ih, steps, rows)
        from_d = LoopLinear.from_layer(self.gru.weight_hh, self.gru.bias_hh, steps, rows)

        def step(s: Tensor, d: Tensor) -> Tensor:
            return gru(from_s(activate(to_dense(s))), from_d(d), d)

        return step


def gru(from_x: Tensor, from_d: Tensor, d: Tensor) -> Tensor:  # (B, 3·D) twice, (B, D) → (B, D)
    """The GRU cell of PyTorch, after its two matrix products."""
    width = d.shape[-1]
    x_gates, x_new = torch.split(from_x, [2 * width, width], -1)
    d_gates, d_new = torch.split(from_d, [2 * width, width], -1)
    reset, keep = torch.sigmoid(x_gates + d_gates).chunk(2, -1)
    new = torch.tanh(torch.addcmul(x_new, reset, d_new))
    return torch.addcmul(new, keep, d - new)
