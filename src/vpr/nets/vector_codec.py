"""The codec for feature vectors."""

from __future__ import annotations

import torch
from torch import Tensor

from vpr.nets.codec import OUTPUT_GAIN, Codec
from vpr.nets.dense import Stack


class VectorCodec(Codec):
    """A dense encoder and decoder for feature vectors (F,)."""

    def __init__(self, size: int, width: int, layers: int = 4, output_scale: float = 1.0) -> None:
        super().__init__()
        self.enc = Stack(size, width, width, layers)
        self.dec = Stack(width, width, size, layers, OUTPUT_GAIN * output_scale)

    def encode(self, y: Tensor) -> Tensor:
        return self.enc(y)  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        return self.dec(c0)  # type: ignore[no-any-return]

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.dec.layers[-1].bias.copy_(level)  # type: ignore[operator]
