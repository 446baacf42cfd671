"""Jump after jump of one level, for one sequence or a few: f_tran and the prior, made lean.

With one sequence a jump is reading 1 MB of weights and a dozen calls that have next to nothing to
do. So what both networks read of d is one product, the prior's mean goes on to f_tran without a
product of its own, weights lie as a row vector wants them, and results go where they are needed.
The numbers are those of `Prior` and `Transition`, but for rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block
from vpr.networks import SLOPE, Layers, Transition

LINE = 16  # floats: each jump's row begins like every other, and its products round alike


class Jumps(NamedTuple):
    """K jumps, step by step."""

    p: Belief  # (K, B, S)
    s: Tensor  # (K, B, S)
    d: Tensor  # (B, D) of the last jump
    d_next: Tensor  # (B, D)


class Jumper:
    """d → p(s | d, c) → s → the next d, under one c (B, D), with the weights of now."""

    def __init__(self, block: Block, c: Tensor) -> None:
        self.width, self.size, self.min_std = block.width, block.state_size, block.p.head.min_std
        net: Layers = block.p.head.net
        layers = [(layer.weight.detach(), layer.bias.detach()) for layer in net.layers]  # type: ignore[operator]
        (first, first_bias), *hidden, (last, last_bias) = layers
        f_tran: Transition = block.f_tran
        to_dense, dense_bias = f_tran.dense.weight.detach(), f_tran.dense.bias.detach()
        of_x, to_gates, x_bias, gates_bias = (w.detach() for w in f_tran.gru.parameters())
        of_d, of_c = first.chunk(2, 1)
        given = torch.addmm(first_bias, c, of_c.t())
        self.base = torch.cat([gates_bias.expand(len(c), -1), given], 1)  # (B, 4·D)
        self.of_d = _by_columns(to_gates, of_d)  # (4·D, D)
        self.hidden = [(bias, _by_columns(weight)) for weight, bias in hidden]
        self.last = _by_columns(last, to_dense @ last[: self.size])  # (3·S, D)
        self.last_bias = torch.cat([last_bias, to_dense @ last_bias[: self.size] + dense_bias])
        self.to_dense = to_dense
        self.of_x, self.x_bias = _by_columns(of_x), x_bias

    def jump(self, d: Tensor, steps: int, noise: Tensor | None) -> Jumps:
        """From the d (B, D) predicted for the first; noise (K, B, S)."""
        lead = d.shape[:1] if len(d) > 1 else ()  # one sequence is a vector: that is cheaper
        eps = noise.view(steps, *lead, -1) if noise is not None else None
        with torch.inference_mode():
            told, *last = self._follow(d.view(*lead, -1), steps, eps)
        mean, raw, _, drawn = torch.split(told.clone().view(steps, len(d), -1), self.size, -1)
        p = Belief(mean, F.softplus(raw).add_(self.min_std))
        s = mean if noise is None else drawn
        return Jumps(p, s, *(each.clone().view_as(d) for each in last))

    def _follow(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, ...]:
        """Mean, raw σ, f_tran's dense layer and draws (K, …, 4·S); the last d and the next."""
        width, size, lead = self.width, self.size, d.shape[:-1]
        base, product = self.base.view(*lead, -1), torch.addmv if d.dim() == 1 else _addmm
        told = d.new_zeros(steps, *lead, -(-4 * size // LINE) * LINE)[..., : 4 * size]
        outputs, (dense, drawn) = told[..., : 3 * size], torch.split(told, size, -1)[2:]
        read, of_x = d.new_empty(*lead, 4 * width), d.new_empty(*lead, 3 * width)
        gates, from_d, first = torch.split(read, [2 * width, width, width], -1)
        x_gates, new = torch.split(of_x, [2 * width, width], -1)
        reset, keep = gates.chunk(2, -1)
        layers = [(*layer, torch.empty_like(d)) for layer in self.hidden]
        now, then = torch.empty_like(d), d.clone()
        for k, (output, x) in enumerate(zip(outputs, dense, strict=True)):
            now, then = then, now
            product(base, self.of_d, now, out=read)
            h = first
            for bias, weight, after in layers:
                h = product(bias, weight, F.leaky_relu_(h, SLOPE), out=after)
            product(self.last_bias, self.last, F.leaky_relu_(h, SLOPE), out=output)
            if noise is not None:
                x = self._draw(output, noise[k], drawn[k])
            product(self.x_bias, self.of_x, F.leaky_relu_(x, SLOPE), out=of_x)
            torch.sigmoid_(gates.add_(x_gates))
            torch.tanh_(new.addcmul_(reset, from_d))
            torch.lerp(new, now, keep, out=then)
        return told, now, then

    def _draw(self, output: Tensor, noise: Tensor, s: Tensor) -> Tensor:
        """Into s (…, S), from the last layer's output; what f_tran's dense layer makes of it."""
        mean, raw, dense = torch.split(output, self.size, -1)
        shift = F.softplus(raw).add_(self.min_std).mul_(noise)
        torch.add(mean, shift, out=s)
        return torch.add(dense, shift @ self.to_dense.t())


def _by_columns(*weights: Tensor) -> Tensor:
    """(out, in), one below the other, in the order in which one vector's product is fastest."""
    return torch.cat([weight.t() for weight in weights], 1).t()


def _addmm(bias: Tensor, weight: Tensor, x: Tensor, *, out: Tensor) -> Tensor:
    """`torch.addmv` for rows x (B, in)."""
    return torch.addmm(bias, x, weight.t(), out=out)
