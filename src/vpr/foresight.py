"""Does a level still jump right when nobody tells it what really came?

The ELBO asks for one jump at a time, each from a state that was just read off a frame. A rollout
jumps from its own predictions, and what is a little off after one jump is more so after the next.
Here a level goes through the events of a sequence as a rollout would. No label takes part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.moments import Moments
from vpr.tree import tree_map

if TYPE_CHECKING:
    from vpr.block import Block
    from vpr.model import VPR
    from vpr.trace import LevelTrace, State, Trace


LOST = 5.0  # nats: neighbouring hues of an object of 3DSD are 5 to 8 apart
Led = tuple[Tensor, ...]  # (B, D) d̃_{τ+1} of levels 2 to N: where their own jumps have led them


def foresight(
    model: VPR, before: State, trace: Trace, led: Led | None = None
) -> tuple[Tensor, Led]:
    """Σ_τ D_KL(q_τ ‖ p̃_τ) in nats a frame of levels 2 to N, (N − 1,), and where they were led.

    q_τ is what a level believed at its τ-th event. p̃_τ is where its jumps lead that begin at the
    first: s̃_1 = s_1, then d̃_{τ+1} = f_tran(s̃_τ, d̃_τ), p̃_τ = p(s | d̃_τ, c_τ) and s̃_τ its mean.
    Only f_tran and the prior learn from it. A level that is LOST at an event is told s̃_τ = s_τ, and
    that event does not count: one was overlooked before, or seen twice.

    `before`: the state that the trace began with. With `led`, jumps go on from where those of the
    frames before had led: so they may be many more than a trace has events, and a level learns to
    stay on its way from wherever they really take it.
    """
    blocks: list[Block] = list(model.blocks)  # type: ignore[arg-type]
    led = led or tuple(block.d_next for block in before.blocks[1:])
    c, found, ends = torch.zeros_like(trace.c0), [], []
    for n in reversed(range(1, len(blocks))):
        astray, end = _led_astray(blocks[n], led[n - 1], c, trace.levels[n])
        found.append(astray)
        ends.append(end)
        with torch.no_grad():
            c = blocks[n].f_dec(c, trace.levels[n].s)
    return torch.stack(found[::-1]), tuple(ends[::-1])


def _led_astray(
    block: Block, d: Tensor, c: Tensor, level: LevelTrace
) -> tuple[Tensor, Tensor]:  # (), (B, D)
    """Of one level: d (B, D) before its next event, c (B, T, D) at all frames."""
    boundary = level.evidence.boundary
    moments = Moments(boundary)
    s, c, q = tree_map(lambda each: moments.pick(each.detach()), (level.s, c, level.q))
    astray, d = lead(block, d, c, s, q, boundary.sum(1))
    return astray / boundary.numel(), d


def lead(
    block: Block, d: Tensor, c: Tensor, s: Tensor, q: Belief, count: Tensor
) -> tuple[Tensor, Tensor]:  # (), (B, D)
    """Σ D_KL(q ‖ p̃) over `count` (B,) events of K, from d (B, D) on, and the d̃ after them.

    c (B, K, D), s and q (B, K, S) of each event.
    """
    astray = []
    opening = (d == 0).all(1)  # nobody can foresee what a sequence begins with
    for k in range(s.shape[1]):
        p = block.p(d, c[:, k])
        apart = kl(Belief(q.mean[:, k], q.std[:, k]), p)
        here = k < count
        told = opening | (apart > LOST)
        astray.append(torch.where(here & ~told, apart, 0.0).sum())
        jumped = block.f_tran(torch.where(told.unsqueeze(1), s[:, k], p.mean), d)
        d, opening = torch.where(here.unsqueeze(1), jumped, d), opening & ~here
    return torch.stack(astray).sum(), d.detach()
