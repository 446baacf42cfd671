"""From frames to x⁰ and from c⁰ back to frames.

A codec has a layout of its own, in which it reads and paints cheaply: `to_layout` takes frames
(M, *frame) there, `encode` goes on to (M, width), `decode` comes back from (M, width) to logits or
means in that layout, and `to_frames` makes pictures of them. The likelihood is summed over all
pixels, so it needs no pictures. M is any number of frames: time is nobody's business here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.convolutions import (
    SingleConvolution,
    fold,
    from_folded,
    from_one_place,
    to_folded,
    unfolded,
)
from vpr.errors import VPRError
from vpr.networks import SLOPE, Stack, activate, dense, initialise

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


class WorldModels(Codec):
    """The convolutions of World Models, with the paper's Leaky ReLU.

    64×64 is the original geometry: four 4×4 convolutions of stride 2 without padding (which
    never see the last two rows and columns), and transposed ones of 5, 5, 6, 6 from 1×1. Other
    sizes halve exactly four times, with padding 1.
    """

    def __init__(
        self, frame: tuple[int, int, int], width: int, channels: int, loudness: float = 1.0
    ) -> None:
        super().__init__()
        colours, rows, columns = frame
        original = (rows, columns) == (64, 64)
        pad = 0 if original else 1
        plan = [colours, *(channels * 2**i for i in range(4))]
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 4, 2, pad) for a, b in pairwise(plan))
        for layer, a in zip(self.convolutions, plan, strict=False):
            initialise(layer, a * 16)
        grid = (2, 2) if original else (rows // 16, columns // 16)
        self.embed = dense(plan[-1] * grid[0] * grid[1], width)

        self.start = (channels * 32, 1, 1) if original else (channels * 4, *grid)
        self.unfold = dense(width, self.start[0] * self.start[1] * self.start[2])
        sizes = [5, 5, 6, 6] if original else [4, 4, 4, 4]
        plan = [self.start[0], channels * 4, channels * 2, channels, colours]
        self.transposed = nn.ModuleList(
            nn.ConvTranspose2d(a, b, k, 2, pad)
            for a, b, k in zip(plan, plan[1:], sizes, strict=False)
        )
        for layer, a, k in zip(self.transposed, plan, sizes, strict=False):
            initialise(layer, a * k * k // 4)
        if original:  # from 1×1 an output pixel sees one input place
            initialise(self.transposed[0], self.start[0])
        quiet = OUTPUT_GAIN * loudness
        initialise(self.transposed[-1], channels * sizes[-1] ** 2 // 4, quiet)

    def to_layout(self, frames: Tensor) -> Tensor:
        return fold(frames.movedim(1, -1), 2).movedim(-1, 1)  # (M, 4·C, H/2, W/2)

    def to_frames(self, y: Tensor) -> Tensor:
        return unfolded(y.movedim(1, -1), 2).movedim(-1, 1)

    def encode(self, y: Tensor) -> Tensor:
        first, *rest = self.convolutions
        y = _activated(from_folded(y, first))  # type: ignore[arg-type]
        for layer in rest:
            y = _activated(layer(y))
        return self.embed(y.flatten(1))  # type: ignore[no-any-return]

    def single(self) -> Callable[[Tensor], Tensor]:
        return SingleWorldModels(deepcopy(self))

    def decode(self, c0: Tensor) -> Tensor:
        first, *hidden, last = self.transposed
        y = activate(self._spread(self.unfold(c0), first))  # type: ignore[arg-type]
        for layer in hidden:
            y = _activated(layer(y))
        return to_folded(y, last)  # type: ignore[arg-type]

    def _spread(self, y: Tensor, layer: nn.ConvTranspose2d) -> Tensor:
        """The first transposed convolution."""
        if self.start[1:] == (1, 1) and layer.padding == (0, 0):
            return from_one_place(y, layer)
        y = y.view(-1, *self.start).contiguous(memory_format=torch.channels_last)
        return layer(y)  # type: ignore[no-any-return]

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.transposed[-1].bias.copy_(level)  # type: ignore[operator]


class SingleWorldModels:
    """Its encoder for one frame: convolution kernels take longer to get ready than it needs."""

    def __init__(self, codec: WorldModels) -> None:
        self.layers = [SingleConvolution(layer) for layer in codec.convolutions]  # type: ignore[arg-type]
        weight, bias = codec.embed.weight.detach(), codec.embed.bias.detach()
        by_channel = weight.view(len(weight), len(codec.convolutions[-1].bias), -1)  # type: ignore[arg-type]
        self.weight, self.bias = by_channel.transpose(1, 2).flatten(1), bias

    def __call__(self, frame: Tensor) -> Tensor:  # (C, H, W) → (width,)
        y = frame.movedim(0, -1).contiguous()
        for layer in self.layers:
            y = _activated(layer(y))
        return torch.addmv(self.bias, self.weight, y.flatten())


class Folded(Codec):
    """Patches folded into channels: every layer is one matrix product, several times cheaper.

    Three parts make "what" independent of "where"; without them a colour has to be learned in
    every corner separately, and balls stay grey for a long time. The encoder's last layer also
    sees the mean over all places. The decoder's feature maps are scaled and shifted by the
    latent. And the output has a part Σ_k shape_k(y)·tint_k(c⁰), K = `tints` outlines, each times
    a colour of its own; a tint starts near white, but with weights large enough to tell the
    encoder which colour is missing.

    A second path, a spatial broadcast decoder (Watters et al., 2019), makes it easy to put
    something anywhere: the coordinates of every place are scaled and shifted by the latent.

    The last layer paints patches of 4×4 pixels. So that the edges of patches do not show, each has
    one further value per channel, its colour, which is interpolated bilinearly between neighbouring
    patches; the 16 pixels of a patch are added to it.
    """

    PIXELS = 16 + 1  # values per channel that the last layer gives to a patch

    def __init__(
        self,
        frame: tuple[int, int, int],
        width: int,
        channels: int,
        tints: int = 1,
        loudness: float = 1.0,
    ) -> None:
        super().__init__()
        colours, rows, columns = frame
        self.grid = (rows // 16, columns // 16)
        places = self.grid[0] * self.grid[1]
        ch = channels
        self.down = nn.ModuleList(
            [dense(colours * 16, ch), dense(ch * 4, ch * 2), dense(ch * 8, ch * 4)]
        )
        self.embed = dense(ch * 4 * (places + 1), width)

        self.unfold = dense(width, places * ch * 4)
        self.up = nn.ModuleList([dense(ch * 4, ch * 2 * 4), dense(ch * 2, ch * 2 * 4)])
        self.widths = (ch * 4, ch * 2, ch * 2)
        self.places: Tensor
        self.register_buffer("places", coordinates(rows // 4, columns // 4), persistent=False)
        self.where = dense(self.places.shape[-1], ch * 3)
        self.move = dense(width, 2 * ch * 3, 0.5)
        self.broadcast = dense(ch * 3, ch * 2, 0.3)
        self.modulate = dense(width, 2 * sum(self.widths), OUTPUT_GAIN)
        self.paint = dense(ch * 2, self.PIXELS * colours, OUTPUT_GAIN * loudness)
        self.tints = tints
        self.shape = dense(ch * 2, tints * self.PIXELS, 0.3 * loudness)
        self.tint = dense(width, tints * colours, 0.5)
        nn.init.ones_(self.tint.bias)
        with torch.no_grad():  # the colours of patches are learned before their pixels
            self.paint.weight[-colours:] *= 3
        self.bilinear: Tensor
        self.register_buffer("bilinear", bilinear(4, colours), persistent=False)

    def to_layout(self, frames: Tensor) -> Tensor:
        return fold(frames.movedim(1, -1), 4)

    def to_frames(self, y: Tensor) -> Tensor:
        return unfolded(y, 4).movedim(-1, 1)

    def encode(self, y: Tensor) -> Tensor:
        first, *rest = self.down
        y = activate(first(y))
        for layer in rest:
            y = activate(layer(fold(y, 2)))
        y = y.flatten(1, 2)  # (M, places, channels)
        return self.embed(torch.cat([y.flatten(1), y.mean(1)], -1))  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        gains = self.modulate(c0)[:, None, None].split([2 * w for w in self.widths], -1)
        y = self.unfold(c0).view(-1, *self.grid, self.widths[0])
        y = _modulated(y, gains[0])
        y = _modulated(unfolded(self.up[0](y), 2), gains[1])
        moved = _modulated(self.where(self.places), self.move(c0)[:, None, None])
        y = _modulated(unfolded(self.up[1](y), 2) + self.broadcast(moved), gains[2])
        weight, bias = self._painter(c0)
        out = torch.baddbmm(bias.unsqueeze(1), y.flatten(1, 2), weight.transpose(1, 2))
        out = out.view(*y.shape[:3], -1)
        detail, colour = out.tensor_split([out.shape[-1] // self.PIXELS * 16], -1)
        around = neighbours(colour).flatten(0, 2)
        return torch.addmm(detail.flatten(0, 2), around, self.bilinear).view(detail.shape)

    def _painter(self, c0: Tensor) -> tuple[Tensor, Tensor]:
        """The last layer of each frame: paint(y) + Σ_k shape_k(y)·tint_k(c⁰) as one matrix.

        (M, 17·C, ch). As weights the tints cost next to nothing; as pixels, passes over the video.
        """
        tint = self.tint(c0).view(len(c0), self.tints, -1)  # (M, K, C)
        shape = self.shape.weight.view(self.tints, self.PIXELS, -1)  # (K, 17, ch)
        weight = torch.einsum("kph,mkc->mpch", shape, tint)  # (M, 17, C, ch)
        bias = torch.einsum("kp,mkc->mpc", self.shape.bias.view(-1, self.PIXELS), tint)
        return self.paint.weight + weight.flatten(1, 2), self.paint.bias + bias.flatten(1)

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.paint.bias.zero_()
        self.paint.bias[-len(level) :].copy_(level)


class Features(Codec):
    """Plain vectors (F,): a dense encoder and decoder, for people's own features."""

    def __init__(self, size: int, width: int, layers: int = 4, loudness: float = 1.0) -> None:
        super().__init__()
        self.enc = Stack(size, width, width, layers)
        self.dec = Stack(width, width, size, layers, OUTPUT_GAIN * loudness)

    def encode(self, y: Tensor) -> Tensor:
        return self.enc(y)  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        return self.dec(c0)  # type: ignore[no-any-return]

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.dec.layers[-1].bias.copy_(level)  # type: ignore[operator]


def make_codec(
    frame: tuple[int, ...],
    width: int,
    network: str,
    channels: int,
    tints: int = 1,
    layers: int = 4,
    loudness: float = 1.0,
) -> Codec:
    """The image network for frames of this shape: (C, H, W), or (F,) for plain vectors.

    `layers` are of the network for vectors. `loudness` tells how much of an output is a lot: a
    logit may be 4, a brightness at most 1.
    """
    if len(frame) == 1:
        return Features(frame[0], width, layers, loudness)
    if network == "world-models":
        return WorldModels(frame, width, channels, loudness)  # type: ignore[arg-type]
    if network == "folded":
        return Folded(frame, width, channels, tints, loudness)  # type: ignore[arg-type]
    raise VPRError(f"network must be 'world-models' or 'folded', got {network!r}")


def coordinates(rows: int, columns: int) -> Tensor:
    """Fourier features of every place of a grid, in four directions: (rows, columns, 34)."""
    y = torch.linspace(-1, 1, rows)[:, None].expand(rows, columns)
    x = torch.linspace(-1, 1, columns).expand(rows, columns)
    directions = torch.stack([y, x, y + x, y - x], -1)
    angles = torch.cat([k * math.pi * directions for k in (0.5, 1, 2, 4)], -1)
    return torch.cat([y[..., None], x[..., None], angles.sin(), angles.cos()], -1)


def neighbours(y: Tensor) -> Tensor:
    """Each place with the eight around it, row by row: (M, H, W, C) → (M, H, W, 9·C).

    Beyond the border the values are those of the border.
    """
    rows, columns = y.shape[1:3]
    y = torch.cat([y[:, :1], y, y[:, -1:]], 1)
    y = torch.cat([y[:, :, :1], y, y[:, :, -1:]], 2)
    shifts = [(i, j) for i in range(3) for j in range(3)]
    return torch.cat([y[:, i : i + rows, j : j + columns] for i, j in shifts], -1)


def bilinear(k: int, channels: int) -> Tensor:
    """Bilinear interpolation of `neighbours` to the k×k pixels of a patch: (9·C, k·k·C)."""
    place = (torch.arange(k) + 0.5) / k - 0.5  # of a pixel, from the middle of the patch
    weight = torch.stack([-place, 1 - place.abs(), place], 1).clamp(min=0)  # (k, 3)
    both = torch.einsum("ia,jb,cd->abcijd", weight, weight, torch.eye(channels))
    return both.reshape(9 * channels, k * k * channels)


def _activated(y: Tensor) -> Tensor:
    """In place: a convolution's output, which is large and which nobody needs any more."""
    return F.leaky_relu_(y, SLOPE)


def _modulated(y: Tensor, gain: Tensor) -> Tensor:
    """y·(1 + a) + b, then the activation; a and b (M, 1, 1, C) come from the latent."""
    a, b = gain.chunk(2, -1)
    return activate(torch.addcmul(b, y, 1 + a))
