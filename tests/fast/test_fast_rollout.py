"""Fast rollouts against the plain networks, for one sequence and several."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block
from vpr.fast.blas import NEW, OLD, block_count, max_weights
from vpr.fast.fast_rollout import FastRollout, RolloutSteps
from vpr.model import VPR
from vpr.pretrained import load_model

STEPS = 7


@torch.no_grad()
def plain(block: Block, d: Tensor, c: Tensor, steps: int, noise: Tensor | None) -> RolloutSteps:
    """By the modules."""
    ps, ss = [], []
    for k in range(steps):
        now = d
        ps.append(block.p(d, c))
        ss.append(ps[-1].rsample(noise[k] if noise is not None else None))
        d = block.f_tran(ss[-1], d)
    mean, std = (torch.stack(each) for each in zip(*ps, strict=True))
    return RolloutSteps(Belief(mean, std), torch.stack(ss), now, d, block.p(d, c))


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
    torch.testing.assert_close(
        FastRollout(block, c).run(d, STEPS, eps), plain(block, d, c, STEPS, eps)
    )
    assert torch.equal(d, before)


@pytest.mark.parametrize("rows", [1, 3])
def test_draws_are_not_means(tiny_model: Callable[..., VPR], rows: int) -> None:
    block = tiny_model(2).blocks[1]
    d, c, noise = start(block, rows, torch.float64)
    jumps = FastRollout(block, c).run(d, STEPS, noise)
    torch.testing.assert_close(jumps.s, jumps.p.rsample(noise))
    assert not torch.equal(jumps.s, jumps.p.mean)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_k_jumps_are_k_times_one(rows: int, sampled: bool) -> None:
    """Bit for bit, in single precision and with weights of realistic size."""
    block = load_model("moving-ball").blocks[1]
    d, c, noise = start(block, rows, torch.float32)
    whole = FastRollout(block, c).run(d, STEPS, noise if sampled else None)
    for k in range(STEPS):
        one = FastRollout(block, c).run(d, 1, noise[k : k + 1] if sampled else None)
        assert torch.equal(one.p.mean[0], whole.p.mean[k])
        assert torch.equal(one.p.std[0], whole.p.std[k])
        assert torch.equal(one.s[0], whole.s[k])
        d = one.d_next
    for found, wanted in zip((*one[2:4], *one.p_next), (*whole[2:4], *whole.p_next), strict=True):
        assert torch.equal(found, wanted)


def test_runs_are_independent(tiny_model: Callable[..., VPR]) -> None:
    """Its arrays are reused; earlier results do not change."""
    block = tiny_model(2).blocks[1]
    d, c, _ = start(block, 1, torch.float64)
    fast = FastRollout(block, c)
    first, _, again = (fast.run(each, STEPS, None) for each in (d, -d, d))
    torch.testing.assert_close(first, again, rtol=0, atol=0)


def test_products_in_blocks(
    tiny_model: Callable[..., VPR], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vpr.fast.rollout_numpy.MAX_WEIGHTS", 100)
    block = tiny_model(2).blocks[1]
    d, c, noise = start(block, 1, torch.float64)
    found = FastRollout(block, c).run(d, STEPS, noise)
    torch.testing.assert_close(found, plain(block, d, c, STEPS, noise))


@pytest.mark.parametrize(
    ("outs", "ins", "blocks"),
    [(800, 201, 20), (60, 201, 2), (45, 201, 1), (7, 9000, 7), (7, 10_000, 7)],
)
def test_blocks_stay_below_the_limit(outs: int, ins: int, blocks: int) -> None:
    assert block_count(outs, ins, OLD) == blocks


@pytest.mark.parametrize(
    ("blas", "wanted"),
    [
        ({"name": "scipy-openblas", "version": "0.3.31.188.0"}, NEW),
        ({"name": "scipy-openblas", "version": "0.3.27"}, NEW),
        ({"name": "scipy-openblas", "version": "0.3.26"}, OLD),
        ({"name": "openblas64", "version": "0.3.23.dev"}, OLD),
        ({"name": "mkl", "version": "2025.1"}, OLD),
        ({"name": "scipy-openblas", "version": "unknown"}, OLD),
        ({}, OLD),
    ],
)
def test_only_a_known_blas_gets_large_products(blas: dict[str, str], wanted: int) -> None:
    assert max_weights(blas) == wanted


def test_shipped_weights_in_single_precision() -> None:
    block = load_model("moving-ball").blocks[1]
    d, c, _ = start(block, 1, torch.float32)
    ours, theirs = FastRollout(block, c).run(d, 40, None), plain(block, d, c, 40, None)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_results_can_be_used_with_autograd(tiny_model: Callable[..., VPR]) -> None:
    """The loop runs in inference mode; its results must not be bound to it."""
    block = tiny_model(2).blocks[1]
    d, c, noise = start(block, 1, torch.float64)
    jumps = FastRollout(block, c).run(d, STEPS, noise)
    for each in (*jumps.p, jumps.s, jumps.d, jumps.d_next, *jumps.p_next):
        assert not each.is_inference()
        (each * torch.ones_like(each, requires_grad=True)).sum().backward()
