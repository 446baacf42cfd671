"""The weights of `FastRollout`: f_tran and the prior, merged into as few layers as possible.

The dense layer of f_tran is linear in the mean of the prior, so it is merged into the last layer of
the prior.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from vpr.block import Block
from vpr.nets.dense import Layers, Transition


class Layer(NamedTuple):
    weight: Tensor  # (out, in)
    bias: Tensor  # (out,), or (B, out) if it includes the contribution of c


class RolloutWeights(NamedTuple):
    """The layers of one step under a constant c (B, D); Leaky ReLU between them.

    `to_dense` (S, S) adds the contribution of a sample's deviation from the mean.
    """

    of_d: Layer  # D → 3·D, of the GRU
    first: Layer  # D → D, of the prior; the contribution of c is in the bias
    hidden: list[Layer]
    last: Layer  # D → 3·S: mean, raw σ, and the dense layer of f_tran applied to the mean
    of_x: Layer  # S → 3·D, of the GRU, applied to the dense layer
    to_dense: Tensor
    min_std: float

    @classmethod
    @torch.no_grad()
    def of(cls, block: Block, c: Tensor) -> RolloutWeights:
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
    """The last layer of the prior, extended by the dense layer of f_tran applied to the mean."""
    mean, bias = (each[: len(dense.bias)] for each in last)
    of_mean = Layer(dense.weight @ mean, torch.addmv(dense.bias, dense.weight, bias))
    return Layer(*(torch.cat(pair) for pair in zip(last, of_mean, strict=True)))
