"""Each fast convolution against the layer of PyTorch: values and gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from vpr.nets.world_models import (
    SingleConvolution,
    fold,
    from_folded,
    from_one_position,
    to_folded,
    unfolded,
)

Way = Callable[[Tensor], Tensor]


def assert_same_function(layer: nn.Module, ours: Way, stock: Way, x: Tensor) -> None:
    """Values, and gradients for the input and for both parameters."""
    found, wanted = (way(x.requires_grad_()) for way in (ours, stock))
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)
    slope = torch.randn_like(wanted)
    places = [x, *layer.parameters()]
    for a, b in zip(
        torch.autograd.grad(found, places, slope),
        torch.autograd.grad(wanted, places, slope),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def folded(x: Tensor) -> Tensor:
    return fold(x.movedim(1, -1), 2).movedim(-1, 1)


def pictures(y: Tensor) -> Tensor:
    return unfolded(y.movedim(1, -1), 2).movedim(-1, 1)


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 32, 48), (3, 16, 16)])
@pytest.mark.parametrize(("kernel", "padding"), [(4, 0), (4, 1), (6, 0), (6, 2)])
def test_from_folded(shape: tuple[int, int, int], kernel: int, padding: int) -> None:
    torch.manual_seed(0)
    layer = nn.Conv2d(shape[0], 5, kernel, 2, padding).double()
    x = torch.randn(2, *shape, dtype=torch.double)
    assert_same_function(layer, lambda v: from_folded(folded(v), layer), layer, x)


@pytest.mark.parametrize("grid", [(30, 30), (8, 12), (1, 1)])
@pytest.mark.parametrize(("kernel", "padding"), [(6, 0), (4, 1), (4, 0)])
def test_to_folded(grid: tuple[int, int], kernel: int, padding: int) -> None:
    torch.manual_seed(0)
    layer = nn.ConvTranspose2d(5, 3, kernel, 2, padding).double()
    x = torch.randn(2, 5, *grid, dtype=torch.double)
    assert_same_function(layer, lambda v: pictures(to_folded(v, layer)), layer, x)


def test_from_one_position() -> None:
    torch.manual_seed(0)
    layer = nn.ConvTranspose2d(7, 3, 5, 2).double()
    x = torch.randn(4, 7, dtype=torch.double)
    assert_same_function(
        layer, lambda v: from_one_position(v, layer), lambda v: layer(v[:, :, None, None]), x
    )


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 32, 48)])
@pytest.mark.parametrize("padding", [0, 1])
def test_single(shape: tuple[int, int, int], padding: int) -> None:
    layer = nn.Conv2d(shape[0], 5, 4, 2, padding).double()
    x = torch.randn(shape, dtype=torch.double)
    found = SingleConvolution(layer)(x.movedim(0, -1).contiguous()).movedim(-1, 0)
    torch.testing.assert_close(found, layer(x[None])[0], rtol=1e-9, atol=1e-9)
