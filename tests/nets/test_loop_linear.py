"""`LoopLinear` against the same layer with plain autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from vpr.nets.dense import GaussianHead, LoopLinear, Transition

STEPS, ROWS, WIDTH = 5, 3, 4


def assert_same_gradients(net: nn.Module, found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    weights = list(net.parameters())
    slope = torch.randn_like(wanted)
    for a, b in zip(
        torch.autograd.grad(found, weights, slope),
        torch.autograd.grad(wanted, weights, slope),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def test_recurrent_layer() -> None:
    layer = nn.Linear(WIDTH, WIDTH).double()
    in_loop = LoopLinear.from_layer(layer.weight, layer.bias, STEPS, ROWS)
    ours = stock = torch.randn(ROWS, WIDTH, dtype=torch.double)
    for _ in range(STEPS):
        ours, stock = in_loop(ours).tanh(), layer(stock).tanh()
    assert_same_gradients(layer, ours, stock)


def test_gradient_of_the_base() -> None:
    weight = torch.randn(WIDTH, WIDTH, dtype=torch.double, requires_grad=True)
    base = torch.randn(STEPS, ROWS, WIDTH, dtype=torch.double, requires_grad=True)
    in_loop = LoopLinear(weight, base)
    ours = stock = torch.randn(ROWS, WIDTH, dtype=torch.double)
    for k in range(STEPS):
        ours, stock = in_loop(ours).tanh(), (base[k] + stock @ weight.t()).tanh()
    found = torch.autograd.grad(ours.sum(), [weight, base])
    wanted = torch.autograd.grad(stock.sum(), [weight, base])
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)


def test_transition() -> None:
    """Our GRU cell is PyTorch's."""
    f_tran = Transition(2, WIDTH).double()
    step = f_tran.in_loop(STEPS, ROWS)
    ours = stock = torch.randn(ROWS, WIDTH, dtype=torch.double)
    for s in torch.randn(STEPS, ROWS, 2, dtype=torch.double):
        ours, stock = step(s, ours), f_tran(s, stock)
    assert_same_gradients(f_tran, ours, stock)


def test_gaussian_head() -> None:
    head = GaussianHead(WIDTH, WIDTH, WIDTH, 2 * WIDTH, min_std=0.1, start=0.5).double()
    step = head.in_loop(STEPS, ROWS)
    ours = stock = torch.randn(ROWS, WIDTH, dtype=torch.double)
    for _ in range(STEPS):
        ours, stock = (torch.mul(*net(x)) for net, x in ((step, ours), (head, stock)))
    assert_same_gradients(head, ours, stock)


def test_without_gradients() -> None:
    layer = nn.Linear(WIDTH, WIDTH)
    x = torch.randn(ROWS, WIDTH)
    with torch.no_grad():
        found = LoopLinear.from_layer(layer.weight, layer.bias, 1, ROWS)(x)
        torch.testing.assert_close(found, layer(x))
