"""An image network made of matrix products on patches, several times cheaper on a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.nets.codec import OUTPUT_GAIN, Codec, fold, unfolded
from vpr.nets.dense import SLOPE, activate, dense


class Folded(Codec):
    """Folds patches into channels, so that every layer is one matrix product.

    Three parts separate "what" from "where"; without them a colour has to be learned at every
    position separately, and objects stay grey for many training steps:

    - The last layer of the encoder also receives the mean over all positions.
    - The feature maps of the decoder are scaled and shifted by the latent.
    - The output includes Σ_k shape_k(y)·tint_k(c⁰): K = `colour_masks` masks, each multiplied by
      one colour for the whole frame. The colours start near white, with weights large enough to
      give the encoder a gradient for the missing colour.

    A second path, a spatial broadcast decoder (Watters et al., 2019), helps to place an object
    anywhere: the coordinates of every position are scaled and shifted by the latent.

    The last layer outputs patches of 4×4 pixels. To avoid visible edges between patches, each patch
    has one further value per channel, its colour, which is interpolated bilinearly between
    neighbouring patches and added to the 16 pixels.
    """

    PIXELS = 16 + 1  # outputs of the last layer per patch and channel

    def __init__(
        self,
        frame: tuple[int, int, int],
        width: int,
        channels: int,
        colour_masks: int = 1,
        output_scale: float = 1.0,
    ) -> None:
        super().__init__()
        colours, rows, columns = frame
        self.grid = (rows // 16, columns // 16)
        places = self.grid[0] * self.grid[1]
        # Gathering the pixels of a frame by index is three times as fast as `fold`.
        self.order: Tensor
        pixels = torch.arange(colours * rows * columns).view(1, *frame).movedim(1, -1)
        self.register_buffer("order", fold(pixels, 4).flatten(), persistent=False)
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
        self.paint = dense(ch * 2, self.PIXELS * colours, OUTPUT_GAIN * output_scale)
        self.colour_masks = colour_masks
        self.shape = dense(ch * 2, colour_masks * self.PIXELS, 0.3 * output_scale)
        self.tint = dense(width, colour_masks * colours, 0.5)
        nn.init.ones_(self.tint.bias)
        with torch.no_grad():  # learn the colours of patches before their pixels
            self.paint.weight[-colours:] *= 3
        self.bilinear: Tensor
        self.register_buffer("bilinear", bilinear(4, colours), persistent=False)

    def to_layout(self, frames: Tensor) -> Tensor:
        y = frames.flatten(1).index_select(1, self.order)
        rows, columns = self.grid
        return y.view(len(frames), 4 * rows, 4 * columns, -1)

    def to_frames(self, y: Tensor) -> Tensor:
        return unfolded(y, 4).movedim(-1, 1)

    def encode(self, y: Tensor) -> Tensor:
        first, *rest = self.down
        y = activate(first(y))
        for layer in rest:
            y = activate(layer(fold(y, 2)))
        y = y.flatten(1, 2)  # (M, places, channels)
        return self.embed(torch.cat([y.flatten(1), y.mean(1)], -1))  # type: ignore[no-any-return]

    def single_frame_encoder(self) -> Callable[[Tensor], Tensor]:
        return SingleFolded(self)

    def decode(self, c0: Tensor) -> Tensor:
        gains = self.modulate(c0)[:, None, None].split([2 * w for w in self.widths], -1)
        y = self.unfold(c0).view(-1, *self.grid, self.widths[0])
        y = _modulated(y, gains[0])
        y = _modulated(unfolded(self.up[0](y), 2), gains[1])
        moved = _modulated(self.where(self.places), self.move(c0)[:, None, None])
        y = _modulated(unfolded(self.up[1](y), 2) + self.broadcast(moved), gains[2])
        weight, bias = self._output_layer(c0)
        out = torch.baddbmm(bias.unsqueeze(1), y.flatten(1, 2), weight.transpose(1, 2))
        out = out.view(*y.shape[:3], -1)
        detail, colour = out.tensor_split([out.shape[-1] // self.PIXELS * 16], -1)
        neighbourhood = neighbours(colour).flatten(0, 2)
        return torch.addmm(detail.flatten(0, 2), neighbourhood, self.bilinear).view(detail.shape)

    def _output_layer(self, c0: Tensor) -> tuple[Tensor, Tensor]:
        """The last layer of each frame, paint(y) + Σ_k shape_k(y)·tint_k(c⁰), as one linear map.

        Weight (M, 17·C, ch) and bias (M, 17·C). Multiplying the weights by the colours is much
        cheaper than multiplying the pixels.
        """
        tint = self.tint(c0).view(len(c0), self.colour_masks, -1)  # (M, K, C)
        shape = self.shape.weight.view(self.colour_masks, self.PIXELS, -1)  # (K, 17, ch)
        weight = torch.einsum("kph,mkc->mpch", shape, tint)  # (M, 17, C, ch)
        bias = torch.einsum("kp,mkc->mpc", self.shape.bias.view(-1, self.PIXELS), tint)
        return self.paint.weight + weight.flatten(1, 2), self.paint.bias + bias.flatten(1)

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.paint.bias.zero_()
        self.paint.bias[-len(level) :].copy_(level)


class SingleFolded:
    """The encoder for one frame, with a copy of the current weights.

    All pixels are gathered in one call, in an order in which the patches that a layer folds follow
    each other, so that folding copies nothing. The mean over all positions is a part of the last
    layer's weight.

    Plain version: `Folded.encode`, compared in tests/nets/test_codecs.py.
    """

    @torch.no_grad()
    def __init__(self, codec: Folded) -> None:
        layers: list[nn.Linear] = list(codec.down)  # type: ignore[arg-type]
        colours, (rows, columns) = layers[0].in_features // 16, codec.grid
        split = (colours, rows, 2, 2, 4, columns, 2, 2, 4)
        pixels = torch.arange(math.prod(split), device=layers[0].weight.device).view(split)
        # The grid, the patches that the third and the second layer fold, the pixels of a patch.
        self.pixels = pixels.permute(1, 5, 2, 6, 3, 7, 4, 8, 0).flatten()
        self.layers = [(layer.weight.t().clone(), layer.bias.clone()) for layer in layers]
        places = rows * columns
        each, mean = codec.embed.weight.tensor_split([-codec.embed.in_features // (places + 1)], 1)
        self.weight, self.bias = each + mean.repeat(1, places) / places, codec.embed.bias.clone()

    def __call__(self, frame: Tensor) -> Tensor:  # (C, H, W) → (width,)
        y = frame.reshape(-1).index_select(0, self.pixels)
        for weight, bias in self.layers:
            y = F.leaky_relu_(torch.addmm(bias, y.view(-1, len(weight)), weight), SLOPE)
        return torch.addmv(self.bias, self.weight, y.view(-1))


def coordinates(rows: int, columns: int) -> Tensor:
    """Fourier features of every position of a grid, in four directions: (rows, columns, 34)."""
    y = torch.linspace(-1, 1, rows)[:, None].expand(rows, columns)
    x = torch.linspace(-1, 1, columns).expand(rows, columns)
    directions = torch.stack([y, x, y + x, y - x], -1)
    angles = torch.cat([k * math.pi * directions for k in (0.5, 1, 2, 4)], -1)
    return torch.cat([y[..., None], x[..., None], angles.sin(), angles.cos()], -1)


def neighbours(y: Tensor) -> Tensor:
    """Each position with its eight neighbours, row by row: (M, H, W, C) → (M, H, W, 9·C).

    The border is replicated.
    """
    rows, columns = y.shape[1:3]
    y = torch.cat([y[:, :1], y, y[:, -1:]], 1)
    y = torch.cat([y[:, :, :1], y, y[:, :, -1:]], 2)
    shifts = [(i, j) for i in range(3) for j in range(3)]
    return torch.cat([y[:, i : i + rows, j : j + columns] for i, j in shifts], -1)


def bilinear(k: int, channels: int) -> Tensor:
    """Bilinear interpolation of `neighbours` to the k×k pixels of a patch: (9·C, k·k·C)."""
    place = (torch.arange(k) + 0.5) / k - 0.5  # of a pixel, from the centre of the patch
    weight = torch.stack([-place, 1 - place.abs(), place], 1).clamp(min=0)  # (k, 3)
    both = torch.einsum("ia,jb,cd->abcijd", weight, weight, torch.eye(channels))
    return both.reshape(9 * channels, k * k * channels)


def _modulated(y: Tensor, gain: Tensor) -> Tensor:
    """The activation of y·(1 + a) + b; a and b (M, 1, 1, C) are computed from the latent."""
    a, b = gain.chunk(2, -1)
    return activate(torch.addcmul(b, y, 1 + a))
