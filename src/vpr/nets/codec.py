"""`Codec`, the interface of the networks between frames and the hierarchy; `VectorCodec`.

A codec maps frames to x⁰ and c⁰ back to frames. Internally it uses its own layout of pixels:

to_layout  frames (M, *frame) → pixels in the layout of the codec
encode     pixels in that layout → x⁰ (M, width)
decode     c⁰ (M, width) → logits or means, in that layout
to_frames  pixels in that layout → frames (M, *frame)

The likelihood is a sum over all pixels, so it is computed in that layout. M is any number of
frames; their order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn

from vpr.nets.dense import Stack

OUTPUT_GAIN = 0.1  # of output layers, so that the first outputs are close to the mean of the data


class Codec(nn.Module):
    """Base class of the networks between frames and the hierarchy; see the module docstring."""

    def to_layout(self, frames: Tensor) -> Tensor:
        return frames

    def to_frames(self, y: Tensor) -> Tensor:
        return y

    def encode(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def single_frame_encoder(self) -> Callable[[Tensor], Tensor]:
        """An encoder of one frame (*frame) → (width,), with a copy of the current weights."""
        return SingleFrame(deepcopy(self))

    def decode(self, c0: Tensor) -> Tensor:
        raise NotImplementedError

    def set_output(self, level: Tensor) -> None:
        """Initialise the output bias to `level` (C,), the logit or mean of each channel."""
        raise NotImplementedError


class SingleFrame:
    """The encoder of any codec, applied to a batch of one."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def __call__(self, frame: Tensor) -> Tensor:  # (*frame) → (width,)
        return self.codec.encode(self.codec.to_layout(frame.unsqueeze(0)))[0]


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


def fold(y: Tensor, k: int) -> Tensor:
    """(M, H, W, C) → (M, H/k, W/k, k·k·C)."""
    m, h, w, c = y.shape
    y = y.reshape(m, h // k, k, w // k, k, c).transpose(2, 3)
    return y.reshape(m, h // k, w // k, k * k * c)


def unfolded(y: Tensor, k: int) -> Tensor:
    """(M, H, W, k·k·C) → (M, H·k, W·k, C), the inverse of `fold`."""
    m, h, w, c = y.shape
    y = y.reshape(m, h, w, k, k, c // (k * k)).transpose(2, 3)
    return y.reshape(m, h * k, w * k, c // (k * k))
