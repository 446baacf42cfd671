"""Does a level find itself in a picture, whatever the levels below it hold?

In a video all levels change together, and what a level can foresee costs it no KL. So a lower level
may keep a remainder of what a higher one holds, and nobody notices until one of them moves alone,
as in a rollout. Here they are parted on purpose. No label takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl

if TYPE_CHECKING:
    from vpr.block import Block
    from vpr.model import VPR
    from vpr.trace import Trace

MOST = 200.0  # nats: a picture that is beyond recognition must not drown the others


def recognition(model: VPR, y: Tensor, trace: Trace, noise: Tensor | None) -> Tensor:
    """D_KL(q̂ ‖ q) of levels 2 to N, (N − 1,), on one moment of each sequence.

    The picture for level n has the states of levels n to N from there, and those below from another
    sequence. q̂ = q(s^n | x̂^n, d = 0, c^n) is what level n reads off it, and q off the real frame:
    without a past, so that nobody can know it but from the picture. Only those who paint learn from
    it, f_dec and the image decoder. y (B·T, …): frames in the codec's layout.
    """
    batch, length = trace.c0.shape[:2]
    blocks: list[Block] = list(model.blocks)  # type: ignore[arg-type]
    moments = _moments(batch, length, noise).to(y.device)
    rows = torch.arange(batch, device=y.device)
    states = [level.s[rows, moments].detach() for level in trace.levels]
    c = _contexts(blocks, states)
    painted = [_painted(blocks, states, c[n], n) for n in range(1, len(blocks))]
    pictures = model.likelihood.mean(model.codec.decode(torch.cat(painted)))
    with _frozen(model):
        found = _read(model, blocks, pictures, c)
        with torch.no_grad():
            real = y[rows * length + moments]
            true = _read(model, blocks, torch.cat([real] * len(painted)), c)
    pairs = zip(found, true, strict=True)
    return torch.stack([kl(q_found, q).clamp(max=MOST).mean() for q_found, q in pairs])


def _moments(batch: int, length: int, noise: Tensor | None) -> Tensor:  # (B,)
    """A frame of each sequence: where its noise (T, N, B, S) happens to be largest, or the last."""
    if noise is None:
        return torch.full((batch,), length - 1)
    return noise[:, 0, :, 0].argmax(0)


def _contexts(blocks: list[Block], states: list[Tensor]) -> list[Tensor]:
    """c⁰ … c^N (B, D) of one moment, from all states of their own sequence."""
    c = [states[0].new_zeros(len(states[0]), blocks[0].width)]
    for block, s in zip(reversed(blocks), reversed(states), strict=True):
        c.insert(0, block.f_dec(c[0], s))
    return c


def _painted(blocks: list[Block], states: list[Tensor], c: Tensor, n: int) -> Tensor:  # (B, D)
    """c⁰ from c^n, by the states that another sequence has at levels 1 to n."""
    for block, s in zip(reversed(blocks[:n]), reversed(states[:n]), strict=True):
        c = block.f_dec(c, s.roll(1, 0))
    return c


def _read(model: VPR, blocks: list[Block], pictures: Tensor, c: list[Tensor]) -> list[Belief]:
    """Of levels 2 to N, each off its own pictures ((N − 1)·B, …): q(s | x, d = 0, c), (B, S)."""
    x, found = model.codec.encode(pictures), []
    x = blocks[0].f_enc(x)
    for n, block in enumerate(blocks[1:], start=1):
        x = block.f_enc(x)
        above, mine = c[n + 1].detach(), x[: len(c[0])]
        context = block.q.of_c(above) + block.q.of_d(torch.zeros_like(above))
        found.append(block.q.given(block.read(mine) + context))
        x = x[len(mine) :]  # the rest are for the levels above
    return found


@contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """Nothing that is computed here teaches the weights that compute it."""
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    for weight in learning:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in learning:
            weight.requires_grad_(True)
