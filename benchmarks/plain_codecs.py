"""The image networks with stock PyTorch layers, as a reference for `vpr bench train`.

They compute the same values as our codecs, with nn.Conv2d, nn.ConvTranspose2d and nn.Linear on
frames (M, C, H, W) in the default memory format.
"""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.errors import VPRError
from vpr.nets import Codec, Folded, VectorCodec, WorldModels
from vpr.nets.dense import SLOPE, Layers

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d, nn.ConvTranspose2d)


class PlainCodec(nn.Module):
    """Encoder and decoder on frames (M, *frame), without the layout of a codec."""

    def encode(self, frames: Tensor) -> Tensor:
        raise NotImplementedError

    def decode(self, c0: Tensor) -> Tensor:
        raise NotImplementedError


class PlainWorldModels(PlainCodec):
    """Convolutions and transposed convolutions."""

    def __init__(self, codec: WorldModels, frame: tuple[int, ...]) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(_convolution(layer) for layer in codec.convolutions)  # type: ignore[arg-type]
        self.embed, self.unfold = _linear(codec.embed), _linear(codec.unfold)
        self.transposed = nn.ModuleList(_transposed(layer) for layer in codec.transposed)  # type: ignore[arg-type]
        channels = codec.transposed[0].weight.shape[0]  # type: ignore[index]
        from_one_position = codec.unfold.out_features == channels
        self.grid = (1, 1) if from_one_position else (frame[1] // 16, frame[2] // 16)

    def encode(self, frames: Tensor) -> Tensor:
        y = frames
        for layer in self.convolutions:
            y = F.leaky_relu(layer(y), SLOPE)
        return self.embed(y.flatten(1))  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        y = self.unfold(c0).view(len(c0), -1, *self.grid)
        *hidden, last = self.transposed
        for layer in hidden:
            y = F.leaky_relu(layer(y), SLOPE)
        return last(y)  # type: ignore[no-any-return]


class PlainFolded(PlainCodec):
    """Dense layers on patches of k×k as convolutions with kernel size and stride k.

    Dense layers to patches become transposed convolutions. Stock layers have one bias per channel,
    which is sufficient for an untrained codec, whose biases are constant within a patch.
    """

    def __init__(self, codec: Folded, frame: tuple[int, ...]) -> None:
        super().__init__()
        self.grid = (frame[1] // 16, frame[2] // 16)
        places = self.grid[0] * self.grid[1]
        first, *rest = codec.down
        self.down = nn.ModuleList([_from_patches(first, 4), *(_from_patches(d, 2) for d in rest)])  # type: ignore[arg-type]
        self.embed = _linear(codec.embed)
        self.unfold = _linear(codec.unfold)
        with torch.no_grad():
            flat = self.embed.weight.t()[
                : self.unfold.out_features
            ]  # without the mean over positions
            for values in (flat, self.unfold.weight, self.unfold.bias):
                values.copy_(_channels_first(values, places))
        self.up = nn.ModuleList(_to_patches(layer, 2) for layer in codec.up)  # type: ignore[arg-type]
        self.modulate, self.tint = _linear(codec.modulate), _linear(codec.tint)
        colours = codec.paint.out_features // codec.PIXELS
        self.paint, self.colour = _patches_and_colour(codec.paint, colours)
        # Each tint has a channel for its outline: (tint, pixel) → (pixel, tint).
        outlines = _linear(codec.shape)
        with torch.no_grad():
            for values in (outlines.weight, outlines.bias):
                values.copy_(_channels_first(values, codec.colour_masks))
        self.shape, self.colour_shape = _patches_and_colour(outlines, codec.colour_masks)
        self.where, self.move = _linear(codec.where), _linear(codec.move)
        self.broadcast = _linear(codec.broadcast)
        self.register_buffer("places", codec.places)

    def encode(self, frames: Tensor) -> Tensor:
        y = frames
        for layer in self.down:
            y = F.leaky_relu(layer(y), SLOPE)
        return self.embed(torch.cat([y.flatten(1), y.mean((2, 3))], 1))  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        y = self.unfold(c0).view(len(c0), -1, *self.grid)
        widths = [y.shape[1], *(layer.out_channels for layer in self.up)]
        first, *gains = self.modulate(c0)[:, :, None, None].split([2 * w for w in widths], 1)
        y = _modulated(y, first)
        y = _modulated(self.up[0](y), gains[0])
        moved = self.where(self.places).permute(2, 0, 1)[None]
        moved = _modulated(moved, self.move(c0)[:, :, None, None])
        placed = self.broadcast(moved.movedim(1, -1)).movedim(-1, 1)
        y = _modulated(self.up[1](y) + placed, gains[1])
        tint = self.tint(c0).view(len(c0), self.colour_shape.out_channels, -1)  # (M, K, C)
        colour = self.colour(y) + _tinted(self.colour_shape(y), tint)
        smooth = F.interpolate(colour, scale_factor=4, mode="bilinear", align_corners=False)
        return self.paint(y) + _tinted(self.shape(y), tint) + smooth  # type: ignore[no-any-return]


class PlainVectorCodec(PlainCodec):
    """Dense layers on vectors."""

    def __init__(self, codec: VectorCodec) -> None:
        super().__init__()
        self.enc, self.dec = _stack(codec.enc), _stack(codec.dec)

    def encode(self, frames: Tensor) -> Tensor:
        return self.enc(frames)  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        return self.dec(c0)  # type: ignore[no-any-return]


def make_plain_codec(codec: Codec, frame: tuple[int, ...]) -> PlainCodec:
    """A version of a codec with stock layers, for frames of this shape, with copied weights."""
    if isinstance(codec, WorldModels):
        return PlainWorldModels(codec, frame)
    if isinstance(codec, Folded):
        return PlainFolded(codec, frame)
    if isinstance(codec, VectorCodec):
        return PlainVectorCodec(codec)
    raise VPRError(f"there is no plain version of {type(codec).__name__}")


def plain_nll(output: Tensor, frames: Tensor, likelihood: str) -> Tensor:
    """−ln p(frames | output), summed, with the losses of PyTorch."""
    if likelihood == "bernoulli":
        return F.binary_cross_entropy_with_logits(output, frames, reduction="sum")
    return 0.5 * F.mse_loss(output, frames, reduction="sum")


def _tinted(outlines: Tensor, tint: Tensor) -> Tensor:
    """Σ_k outlines_k (M, K, H, W) · tint_k (M, K, C) → (M, C, H, W)."""
    return torch.einsum("mkhw,mkc->mchw", outlines, tint)


def _modulated(y: Tensor, gain: Tensor) -> Tensor:
    """A gain and a shift (M, C, 1, 1) for each channel, then the activation."""
    a, b = gain.chunk(2, 1)
    return F.leaky_relu(torch.addcmul(b, y, 1 + a), SLOPE)


@torch.no_grad()
def _filled(layer: Layer, weight: Tensor, bias: Tensor | None) -> Layer:
    assert bias is not None
    assert layer.bias is not None
    layer.to(weight.dtype)
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
    return layer


def _linear(layer: nn.Linear) -> nn.Linear:
    return _filled(nn.Linear(layer.in_features, layer.out_features), layer.weight, layer.bias)


def _stack(layers: Layers) -> nn.Sequential:
    first, *rest = (_linear(layer) for layer in layers.layers)  # type: ignore[arg-type]
    return nn.Sequential(first, *(part for layer in rest for part in (nn.LeakyReLU(SLOPE), layer)))


def _convolution(layer: nn.Conv2d) -> nn.Conv2d:
    outputs, inputs, k, _ = layer.weight.shape
    stock = nn.Conv2d(inputs, outputs, k, 2, int(layer.padding[0]))
    return _filled(stock, layer.weight, layer.bias)


def _transposed(layer: nn.ConvTranspose2d) -> nn.ConvTranspose2d:
    inputs, outputs, k, _ = layer.weight.shape
    stock = nn.ConvTranspose2d(inputs, outputs, k, 2, int(layer.padding[0]))
    return _filled(stock, layer.weight, layer.bias)


def _from_patches(layer: nn.Linear, k: int) -> nn.Conv2d:
    """A dense layer on patches, whose vectors are (row, column, channel)."""
    weight = layer.weight.view(len(layer.weight), k, k, -1).permute(0, 3, 1, 2)
    return _filled(nn.Conv2d(weight.shape[1], weight.shape[0], k, k), weight, layer.bias)


def _to_patches(layer: nn.Linear, k: int) -> nn.ConvTranspose2d:
    """A dense layer to patches, whose vectors are (row, column, channel)."""
    weight = layer.weight.view(k, k, -1, layer.in_features).permute(3, 2, 0, 1)
    bias = layer.bias.view(k * k, -1)
    if not torch.equal(bias, bias[:1].expand_as(bias)):
        raise VPRError("the bias varies within a patch, which stock layers do not support")
    stock = nn.ConvTranspose2d(weight.shape[0], weight.shape[1], k, k)
    return _filled(stock, weight, bias[0])


def _patches_and_colour(
    layer: nn.Linear, channels: int
) -> tuple[nn.ConvTranspose2d, nn.ConvTranspose2d]:
    """The last layer of `Folded`, whose outputs are 16 pixels and one colour per patch."""
    pixels = 16 * channels
    parts = [nn.Linear(layer.in_features, n) for n in (pixels, channels)]
    for part, rows in zip(parts, (slice(pixels), slice(pixels, None)), strict=True):
        _filled(part, layer.weight[rows], layer.bias[rows])
    return _to_patches(parts[0], 4), _to_patches(parts[1], 1)


def _channels_first(values: Tensor, places: int) -> Tensor:
    """(places·channels, …) → (channels·places, …)."""
    return values.reshape(places, -1, *values.shape[1:]).transpose(0, 1).reshape(values.shape)
