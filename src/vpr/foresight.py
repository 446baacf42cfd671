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


def foresight(model: VPR, before: State, trace: Trace) -> Tensor:
    """Σ_τ D_KL(q_τ ‖ p̃_τ) in nats a frame of levels 2 to N, (N − 1,).

    q_τ is what a level believed at its τ-th event. p̃_τ is where its jumps lead that begin at the
    first: s̃_1 = s_1, then d̃_{τ+1} = f_tran(s̃_τ, d̃_τ), p̃_τ = p(s | d̃_τ, c_τ) and s̃_τ its mean.
    Only f_tran and the prior learn from it. `before`: the state that the trace began with. From the
    event on at which it is LOST, a sequence does not count: where an event was overlooked, or seen
    twice, jumps would be held against the wrong one to the end.
    """
    blocks: list[Block] = list(model.blocks)  # type: ignore[arg-type]
    c, found = torch.zeros_like(trace.c0), []
    for n in reversed(range(1, len(blocks))):
        found.append(_led_astray(blocks[n], before.blocks[n].d_next, c, trace.levels[n]))
        with torch.no_grad():
            c = blocks[n].f_dec(c, trace.levels[n].s)
    return torch.stack(found[::-1])


def _led_astray(block: Block, d: Tensor, c: Tensor, level: LevelTrace) -> Tensor:  # ()
    """Of one level: d (B, D) before its first event, c (B, T, D) at all frames."""
    boundary = level.evidence.boundary
    moments = Moments(boundary)
    s, c, q = tree_map(lambda each: moments.pick(each.detach()), (level.s, c, level.q))
    jump, beliefs = s[:, 0], []
    for k in range(1, s.shape[1]):
        d = block.f_tran(jump, d)
        beliefs.append(block.p(d, c[:, k]))
        jump = beliefs[-1].mean
    if not beliefs:
        return s.new_zeros(())
    p = Belief(*(torch.stack(each, 1) for each in zip(*beliefs, strict=True)))
    true = torch.arange(1, s.shape[1], device=s.device) < boundary.sum(1, keepdim=True)
    apart = kl(Belief(q.mean[:, 1:], q.std[:, 1:]), p)
    known = (apart > LOST).cumsum(1) == 0
    return torch.where(true & known, apart, 0.0).sum() / boundary.numel()
