"""What a jump reads, of f_tran and the prior, in as few layers as the numbers allow.

The prior's mean goes on to f_tran's dense layer without a product of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.block import Block
from vpr.nets.dense import Layers, Transition


class Layer(NamedTuple):
    weight: Tensor  # (out, in)
    bias: Tensor  # (out,), or (B, out) where c has its say


class Weights(NamedTuple):
    """The layers of a jump under one c (B, D); Leaky ReLU between them.

    A drawn state is not the mean: `to_dense` (S, S) is for what the draw adds.
    """

    of_d: Layer  # D → 3·D: the GRU's
    first: Layer  # D → D: the prior's, with what it reads of c
    hidden: list[Layer]
    last: Layer  # D → 3·S: mean, raw σ, and f_tran's dense layer of the mean
    of_x: Layer  # S → 3·D: the GRU's, of the dense layer
    to_dense: Tensor
    min_std: float

    @classmethod
    @torch.no_grad()
    def of(cls, block: Block, c: Tensor) -> Weights:
        """With the weights of now."""
        net: Layers = block.p.head.net
        layers = [Layer(layer.weight.detach(), layer.bias.detach()) for layer in net.layers]  # type: ignore[operator]
        first, *hidden, last = layers
        f_tran: Transition = block.f_tran
        dense = Layer(f_tran.dense.weight.detach(), f_tran.dense.bias.detach())
        of_x, of_d, x_bias, d_bias = (w.detach() for w in f_tran.gru.parameters())
        from_d, from_c = first.weight.chunk(2, 1)
        return cls(
            of_d=Layer(of_d, d_bias),
            first=Layer(from_d, torch.addmm(first.bias, c, from_c.t())),
            hidden=hidden,
            last=_with_dense(last, dense),
            of_x=Layer(of_x, x_bias),
            to_dense=dense.weight,
            min_std=block.p.head.min_std,
        )


def _with_dense(last: Layer, dense: Layer) -> Layer:
    """The prior's last layer, and under it what f_tran's dense layer makes of the mean."""
    mean, bias = (each[: len(dense.bias)] for each in last)
    of_mean = Layer(dense.weight @ mean, torch.addmv(dense.bias, dense.weight, bias))
    return Layer(*(torch.cat(pair) for pair in zip(last, of_mean, strict=True)))
