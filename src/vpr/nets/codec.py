"""Codecs: from frames to x⁰ and from c⁰ back to frames.

A codec has a layout of its own, in which it reads and paints cheaply: `to_layout` takes frames
(M, *frame) there, `encode` goes on to (M, width), `decode` comes back from (M, width) to logits or
means in that layout, and `to_frames` makes pictures of them. The likelihood is summed over all
pixels, so it needs no pictures. M is any number of frames: time is nobody's business here.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from torch import Tensor, nn

OUTPUT_GAIN = 0.1  # of layers that should start quiet, so that learning starts at the data's mean


class Codec(nn.Module):
    """What the hierarchy needs of an image network."""

    def to_layout(self, frames: Tensor) -> Tensor:
        return frames

    def to_frames(self, y: Tensor) -> Tensor:
        return y

    def encode(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def single(self) -> Callable[[Tensor], Tensor]:
        """The encoder for one frame (*frame) → (width,) at a time, with the weights of now."""
        return SingleFrame(deepcopy(self))

    def decode(self, c0: Tensor) -> Tensor:
        raise NotImplementedError

    def set_output(self, level: Tensor) -> None:
        """Start the output at `level` (C,): the logit, or mean, of each channel in the data."""
        raise NotImplementedError


class SingleFrame:
    """A codec's encoder on a batch of one."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def __call__(self, frame: Tensor) -> Tensor:  # (*frame) → (width,)
        return self.codec.encode(self.codec.to_layout(frame.unsqueeze(0)))[0]
