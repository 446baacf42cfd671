"""`Codec`, the interface of the networks between frames and the hierarchy.

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

from torch import Tensor, nn

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
        """An encoder of one frame (*frame) → (width,), with a copy of the present weights."""
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
