"""Dense building blocks: initialisation, residual stacks, compressors, Gaussian heads."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.beliefs import Belief

SLOPE = 0.1  # of every Leaky ReLU; the paper names none


def activate(x: Tensor) -> Tensor:
    """Leaky ReLU in place of x, the fresh output of a layer that nobody needs any more."""
    return F.leaky_relu_(x, SLOPE)


def initialise(layer: nn.Module, fan_in: int, gain: float = 1.0) -> None:
    """He initialisation for Leaky ReLU with the fan-in that a unit really sees."""
    std = gain * (2 / ((1 + SLOPE**2) * fan_in)) ** 0.5
    nn.init.normal_(layer.weight, std=std)  # type: ignore[arg-type]
    nn.init.zeros_(layer.bias)  # type: ignore[arg-type]


def dense(inputs: int, outputs: int, gain: float = 1.0) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    initialise(layer, inputs, gain)
    return layer


class FourLayers(nn.Module):
    """Four fully connected layers, Leaky ReLU between them: the paper's building block."""

    def __init__(self, inputs: int, hidden: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                dense(inputs, hidden),
                dense(hidden, hidden),
                dense(hidden, hidden),
                dense(hidden, outputs, gain),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:  # (..., inputs) → (..., outputs)
        return self.rest(self.layers[0](x))

    def rest(self, x: Tensor) -> Tensor:  # (..., hidden), the first layer's output → (..., outputs)
        """The layers after the first, for callers who had a part of that before."""
        _, *others = self.layers
        for layer in others:
            x = F.linear(activate(x), layer.weight, layer.bias)  # type: ignore[arg-type]
        return x


class ResidualStack(nn.Module):
    """f(x, …) + 0.1·x: four layers of the width of x; further inputs join the first layer."""

    def __init__(self, width: int, extra: int = 0) -> None:
        super().__init__()
        self.net = FourLayers(width + extra, width, width)

    def forward(self, x: Tensor, *extra: Tensor) -> Tensor:  # (..., width) → (..., width)
        return self.net(torch.cat([x, *extra], -1)) + 0.1 * x  # type: ignore[no-any-return]


class GaussianHead(nn.Module):
    """Four layers to a diagonal Gaussian of size S: 2·S outputs, σ = floor + softplus(·).

    `start` is the σ above the floor before training. A posterior that starts sharp lets the
    decoder see its mean from the first step, which makes reconstruction learn twice as fast.
    """

    def __init__(
        self, inputs: int, hidden: int, state_size: int, min_std: float, start: float
    ) -> None:
        super().__init__()
        self.net = FourLayers(inputs, hidden, 2 * state_size)
        self.min_std = min_std
        with torch.no_grad():
            self.net.layers[-1].bias[state_size:] = math.log(math.expm1(start))  # type: ignore[operator]

    def forward(self, *inputs: Tensor) -> Belief:  # (..., inputs) → Belief (..., S)
        return self.belief(self.net(torch.cat(inputs, -1)))

    def belief(self, output: Tensor) -> Belief:  # (..., 2·S) → Belief (..., S)
        mean, raw = output.chunk(2, -1)
        return Belief(mean, self.min_std + F.softplus(raw))


class Posterior(GaussianHead):
    """q_φ(s | x, d, c).

    The first layer adds up what x, d and c give to it, so that whatever is known early, or stays
    the same for long, is computed once: x of all frames in one product, d and c at an update.
    """

    def __init__(self, compressed: int, width: int, state_size: int, min_std: float) -> None:
        super().__init__(compressed + 2 * width, width, state_size, min_std, start=0.13)
        self.sizes = [compressed, width, width]

    def forward(self, x: Tensor, d: Tensor, c: Tensor) -> Belief:  # type: ignore[override]
        return self.given(self.from_x(x) + self.from_context(d, c))

    def given(self, first: Tensor) -> Belief:  # (..., H) the first layer, summed up → (..., S)
        return self.belief(self.net.rest(first))

    def from_x(self, x: Tensor) -> Tensor:  # (..., E) → (..., H)
        first = self.net.layers[0]
        return F.linear(x, first.weight[:, : self.sizes[0]], first.bias)  # type: ignore[index, arg-type]

    def from_context(self, d: Tensor, c: Tensor) -> Tensor:  # (..., D) twice → (..., H)
        return F.linear(torch.cat([d, c], -1), self.net.layers[0].weight[:, self.sizes[0] :])  # type: ignore[index]

    def parts(self) -> tuple[Tensor, Tensor]:
        """The first layer's weights for d and for c, (H, D) each."""
        _, of_d, of_c = self.net.layers[0].weight.split(self.sizes, 1)  # type: ignore[operator]
        return of_d, of_c


class Transition(nn.Module):
    """f_tran: d_{τ+1} = GRU(dense(s_τ), d_τ); the extra dense layer has |s| neurons."""

    def __init__(self, state_size: int, width: int) -> None:
        super().__init__()
        self.dense = dense(state_size, state_size)
        self.gru = nn.GRUCell(state_size, width)

    def forward(self, s: Tensor, d: Tensor) -> Tensor:  # (B, S), (B, D) → (B, D)
        return self.gru(activate(self.dense(s)), d)  # type: ignore[no-any-return]
