"""Convolutions of stride 2, computed faster on a CPU with the same weights and results.

With pixels folded into channels they become convolutions of stride 1, for which CPUs have fast
kernels. Layers for which this is not faster use PyTorch's own (see docs/how-to/performance.md).

Plain version: `nn.Conv2d` and `nn.ConvTranspose2d`, compared in tests/nets/test_convolutions.py.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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
