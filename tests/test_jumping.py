"""Lean jumps against the networks they are made of, one sequence or several, near and far."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block
from vpr.checkpoint import load_model
from vpr.jumping import Jumper, Jumps
from vpr.model import VPR

STEPS = 7


@torch.no_grad()
def plain(block: Block, d: Tensor, c: Tensor, steps: int, noise: Tensor | None) -> Jumps:
    """By the modules."""
    ps, ss = [], []
    for k in range(steps):
        now = d
        ps.append(block.p(d, c))
        ss.append(ps[-1].rsample(noise[k] if noise is not None else None))
        d = block.f_tran(ss[-1], d)
    mean, std = (torch.stack(each) for each in zip(*ps, strict=True))
    return Jumps(Belief(mean, std), torch.stack(ss), now, d)


def start(block: Block, rows: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """d, c (B, D) and noise (K, B, S)."""
    draws = torch.Generator().manual_seed(rows)
    shapes = (rows, block.width), (rows, block.width), (STEPS, rows, block.state_size)
    return tuple(torch.randn(s, generator=draws, dtype=dtype) for s in shapes)  # type: ignore[return-value]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("layers", [2, 4])
def test_equal_the_networks(
    tiny_model: Callable[..., VPR], layers: int, rows: int, sampled: bool
) -> None:
    block = tiny_model(2, layers=layers).blocks[1]
    d, c, noise = start(block, rows, torch.float64)
    eps = noise if sampled else None
    before = d.clone()
    torch.testing.assert_close(Jumper(block, c).jump(d, STEPS, eps), plain(block, d, c, STEPS, eps))
    assert torch.equal(d, before)


@pytest.mark.parametrize("rows", [1, 3])
def test_draws_are_not_means(tiny_model: Callable[..., VPR], rows: int) -> None:
    block = tiny_model(2).blocks[1]
    d, c, noise = start(block, rows, torch.float64)
    jumps = Jumper(block, c).jump(d, STEPS, noise)
    torch.testing.assert_close(jumps.s, jumps.p.rsample(noise))
    assert not torch.equal(jumps.s, jumps.p.mean)


def test_shipped_weights_in_single_precision() -> None:
    block = load_model("moving-ball").blocks[1]
    d, c, _ = start(block, 1, torch.float32)
    ours, theirs = Jumper(block, c).jump(d, 40, None), plain(block, d, c, 40, None)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_what_comes_back_can_be_differentiated_through(tiny_model: Callable[..., VPR]) -> None:
    """The loop runs in inference mode; its results must not be bound to it."""
    block = tiny_model(2).blocks[1]
    d, c, noise = start(block, 1, torch.float64)
    for each in (*(jumps := Jumper(block, c).jump(d, STEPS, noise)).p, *jumps[1:]):
        assert not each.is_inference()
        (each * torch.ones_like(each, requires_grad=True)).sum().backward()
