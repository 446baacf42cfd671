"""Jumps of several sequences, or anywhere but on the CPU: PyTorch, a row for each sequence.

Weights lie as the product wants them, and results go where they are needed.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.fast.rollout_weights import Layer, Weights
from vpr.nets.dense import SLOPE

LINE = 16  # floats: each jump's row begins like every other, and its products round alike


class Rows:
    def __init__(self, w: Weights) -> None:
        bias = torch.cat([w.of_d.bias.expand(len(w.first.bias), -1), w.first.bias], 1)
        self.read = Layer(_by_columns(w.of_d.weight, w.first.weight), bias)
        self.hidden = [Layer(_by_columns(weight), bias) for weight, bias in w.hidden]
        self.last = Layer(_by_columns(w.last.weight), w.last.bias)
        self.of_x = Layer(_by_columns(w.of_x.weight), w.of_x.bias)
        self.to_dense, self.min_std, self.size = w.to_dense, w.min_std, len(w.to_dense)

    def follow(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, raw σ, f_tran's dense layer and draws (K + 1, B, 4·S); the last d and the next.

        The last row is the prediction after K jumps, of which nothing is drawn.
        """
        with torch.inference_mode():
            found = self._follow(d, steps, noise)
        told, now, then = (each.clone() for each in found)  # not bound to that mode
        return told, now, then

    def _follow(self, d: Tensor, steps: int, noise: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        (rows, width), size = d.shape, self.size
        told = d.new_zeros(steps + 1, rows, -(-4 * size // LINE) * LINE)[..., : 4 * size]
        outputs, (dense, drawn) = told[..., : 3 * size], torch.split(told, size, -1)[2:]
        read, of_x = d.new_empty(rows, 4 * width), d.new_empty(rows, 3 * width)
        gates, from_d, first = torch.split(read, [2 * width, width, width], -1)
        x_gates, new = torch.split(of_x, [2 * width, width], -1)
        reset, keep = gates.chunk(2, -1)
        layers = [(layer, torch.empty_like(d)) for layer in self.hidden]
        now, then = torch.empty_like(d), d.clone()
        for k, (output, x) in enumerate(zip(outputs, dense, strict=True)):
            _product(self.read, then, read)
            h = first
            for layer, after in layers:
                h = _product(layer, F.leaky_relu_(h, SLOPE), after)
            _product(self.last, F.leaky_relu_(h, SLOPE), output)
            if k == steps:
                break
            now, then = then, now
            if noise is not None:
                x = self._draw(output, noise[k], drawn[k])
            _product(self.of_x, F.leaky_relu_(x, SLOPE), of_x)
            torch.sigmoid_(gates.add_(x_gates))
            torch.tanh_(new.addcmul_(reset, from_d))
            torch.lerp(new, now, keep, out=then)
        return told, now, then

    def _draw(self, output: Tensor, noise: Tensor, s: Tensor) -> Tensor:
        """Into s (B, S), from the last layer's output; what f_tran's dense layer makes of it."""
        mean, raw, dense = torch.split(output, self.size, -1)
        shift = F.softplus(raw).add_(self.min_std).mul_(noise)
        torch.add(mean, shift, out=s)
        return torch.add(dense, shift @ self.to_dense.t())


def _by_columns(*weights: Tensor) -> Tensor:
    """(out, in), one below the other, in the order in which products are fastest."""
    return torch.cat([weight.t() for weight in weights], 1).t()


def _product(layer: Layer, x: Tensor, out: Tensor) -> Tensor:
    return torch.addmm(layer.bias, x, layer.weight.t(), out=out)
