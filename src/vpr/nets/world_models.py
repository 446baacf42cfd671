"""The image network of the paper: the convolutions of World Models.

Most of its convolutions, of stride 2, are computed faster on a CPU with the same weights and
results: with pixels folded into channels they become convolutions of stride 1, for which CPUs have
fast kernels. Layers for which this is not faster use PyTorch's own (see
docs/how-to/performance.md). Plain version: `nn.Conv2d` and `nn.ConvTranspose2d`, compared in
tests/nets/test_convolutions.py.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.nets.codec import OUTPUT_GAIN, Codec, fold, unfolded
from vpr.nets.dense import SLOPE, activate, dense, initialise


class WorldModels(Codec):
    """The convolutions of World Models, with Leaky ReLU as in the VPR paper.

    Frames of 64×64 have the original geometry: four 4×4 convolutions of stride 2 without padding
    (the last two rows and columns are not covered), and transposed convolutions of 5, 5, 6, 6 from
    1×1. Other sizes are halved exactly four times, with padding 1.
    """

    def __init__(
        self, frame: tuple[int, int, int], width: int, channels: int, output_scale: float = 1.0
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
        if original:  # from 1×1, an output pixel has one input position
            initialise(self.transposed[0], self.start[0])
        gain = OUTPUT_GAIN * output_scale
        initialise(self.transposed[-1], channels * sizes[-1] ** 2 // 4, gain)

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

    def single_frame_encoder(self) -> Callable[[Tensor], Tensor]:
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
            return from_one_position(y, layer)
        y = y.view(-1, *self.start).contiguous(memory_format=torch.channels_last)
        return layer(y)  # type: ignore[no-any-return]

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        self.transposed[-1].bias.copy_(level)  # type: ignore[operator]


class SingleWorldModels:
    """The encoder for one frame, as matrix products: convolutions have a large overhead per call.

    Plain version: `WorldModels.encode`, compared in tests/nets/test_codecs.py.
    """

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


def _activated(y: Tensor) -> Tensor:
    """Leaky ReLU in place, for the large outputs of convolutions."""
    return F.leaky_relu_(y, SLOPE)


def from_folded(y: Tensor, layer: nn.Conv2d) -> Tensor:
    """Apply `layer`, of stride 2, to pixels that are folded 2×2: y (M, 4·C, H/2, W/2)."""
    padding = int(layer.padding[0])
    weight = _cells(layer.weight, padding)  # (out, in, n, 2, n, 2)
    weight = weight.permute(0, 3, 5, 1, 2, 4).flatten(1, 3)
    return F.conv2d(y, weight, layer.bias, padding=(padding + 1) // 2)


def to_folded(y: Tensor, layer: nn.ConvTranspose2d) -> Tensor:
    """Apply `layer`, of stride 2; the output stays folded 2×2: (M, 4·C, H/2, W/2).

    Each of the four pixels of a 2×2 cell is an ordinary convolution of the cell's neighbourhood.
    """
    padding = int(layer.padding[0])
    weight = _cells(layer.weight, padding)  # (in, out, n, 2, n, 2)
    weight = weight.permute(3, 5, 1, 0, 2, 4).flatten(0, 2).flip(-1, -2)
    assert layer.bias is not None
    around = weight.shape[-1] - 1 - (padding + 1) // 2
    return F.conv2d(y, weight, layer.bias.repeat(4), padding=around)


def from_one_position(y: Tensor, layer: nn.ConvTranspose2d) -> Tensor:
    """Apply `layer` to a single position y (M, in), for which it is a dense layer."""
    _, channels, rows, columns = layer.weight.shape
    weight = layer.weight.permute(0, 2, 3, 1).flatten(1)  # (in, rows·columns·out)
    assert layer.bias is not None
    grid = torch.addmm(layer.bias.repeat(rows * columns), y, weight)
    return grid.view(-1, rows, columns, channels).movedim(-1, 1)


class SingleConvolution:
    """A convolution of stride 2 on one image (H, W, C) → (H', W', C'), as one matrix product."""

    def __init__(self, layer: nn.Conv2d) -> None:
        assert layer.bias is not None
        self.k, self.padding = layer.kernel_size[0], int(layer.padding[0])
        self.weight = layer.weight.detach().permute(2, 3, 1, 0).flatten(0, 2)  # (k·k·C, C')
        self.bias = layer.bias.detach()

    def __call__(self, y: Tensor) -> Tensor:
        if self.padding:
            y = F.pad(y, (0, 0, *[self.padding] * 4))
        rows, columns, channels = y.shape
        grid = (rows - self.k) // 2 + 1, (columns - self.k) // 2 + 1
        line = columns * channels
        patches = y.as_strided(
            (*grid, self.k, self.k * channels), (2 * line, 2 * channels, line, 1)
        )
        out = torch.addmm(self.bias, patches.reshape(-1, len(self.weight)), self.weight)
        return out.view(*grid, -1)


def _cells(weight: Tensor, padding: int) -> Tensor:
    """Split a kernel (a, b, k, k) into the n×n cells of 2×2 pixels that it covers."""
    odd = padding % 2
    even = (weight.shape[-1] + odd) % 2
    weight = F.pad(weight, (odd, even, odd, even))
    a, b, k, _ = weight.shape
    return weight.view(a, b, k // 2, 2, k // 2, 2)
