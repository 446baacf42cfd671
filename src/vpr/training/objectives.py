"""Loss terms in addition to the ELBO. Each receives the trace of a batch and returns one number per
level, in nats per frame, which is weighted by β like that level's KL. None is part of the model.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.block import Block, Updates
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.state import LevelTrace, Trace
from vpr.training.distributed import previous_in_batch
from vpr.utils.tree import tree_map

Objective = Callable[[VPR, Trace], Tensor]  # → (N,)
BOTTLENECK = 0.5  # nats of `bottleneck` per nat of content
AHEAD = 64  # events between the two passes of `overshooting`


def persistence(model: VPR, trace: Trace) -> Tensor:
    """Σ_t ln(1 + D_KL(q_st ‖ p_st)) at the levels n ≥ 2 that receive the signal and do not update.

    The ELBO of VPR has no term for such frames, so nothing trains q_st, the belief about a new
    frame under the old context, to agree with the last posterior p_st while nothing changes. This
    is the static component of a renewal process, whose prior at every frame is a mixture of the
    previous posterior and the predicted state. The logarithm bounds the gradient where a change
    was missed, which would otherwise pull two different states together.
    """
    return _each_level(model, trace, _persistence_of)


def overshooting(model: VPR, trace: Trace) -> Tensor:
    """Σ_τ ln(1 + D_KL(q_τ ‖ p̃_τ)) over the events of a level n ≥ 2: latent overshooting.

    p̃_τ is predicted from the first event of the sequence alone: s̃_1 = s_1, then
    d̃_{τ+1} = f_tran(s̃_τ, d̃_τ), p̃_τ = p(s | d̃_τ, c_τ) and s̃_τ its mean, as in a rollout. Only
    f_tran and the prior learn from it. A rollout may be much longer than a training sequence, so a
    second pass starts from the d̃ that another sequence of the batch reaches `AHEAD` events after
    its end: predictions must not depend on how long ago a sequence began.
    """
    return _each_level(model, trace, _overshooting_of)


def bottleneck(model: VPR, trace: Trace) -> Tensor:
    """Σ_τ 0.5 · D_KL(q_τ ‖ N(0, 1)) over the updates of the levels below the top.

    The ELBO compares a state with its prediction, so a predictable copy of a feature of a higher
    level costs nothing at a lower level. In a rollout of the higher level the copy would stay as it
    is and contradict the prediction. Here a state costs what it contains, predictable or not.
    """
    below = [BOTTLENECK * _content(level) for level in trace.levels[:-1]]
    return torch.stack([*below, trace.c0.new_zeros(())])


OBJECTIVES: dict[str, Objective] = {
    "persistence": persistence,
    "overshooting": overshooting,
    "bottleneck": bottleneck,
}


def objective(name: str) -> Objective:
    """The objective of this name."""
    if name not in OBJECTIVES:
        raise VPRError(f"no objective {name!r}: choose from {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


def _each_level(
    model: VPR, trace: Trace, term: Callable[[Block, LevelTrace], Tensor]
) -> Tensor:  # (N,)
    """`term` of levels 2 to N; level 1 updates at every frame and has none."""
    above = zip(model.levels()[1:], trace.levels[1:], strict=True)
    terms = [term(block, level) for block, level in above]
    return torch.stack([trace.c0.new_zeros(()), *terms])


def _content(level: LevelTrace) -> Tensor:
    """Σ_τ D_KL(q_τ ‖ N(0, 1)) in nats per frame."""
    content = kl(level.q, Belief.standard(level.q.mean))
    return torch.where(level.evidence.boundary, content, 0.0).mean()


def _persistence_of(block: Block, level: LevelTrace) -> Tensor:
    evidence, path, index = level.evidence, level.updates, level.update_index
    stays = evidence.kl_static.isfinite() & ~evidence.boundary  # (B, T)
    context = index.hold(block.q.of_d(path.d) + block.q.of_c(path.c))  # (B, T, H)
    p_st = tree_map(index.hold, path.q)
    q_st = block.q.given(level.x + context)
    return torch.where(stays, torch.log1p(kl(q_st, p_st)), 0.0).mean()


def _overshooting_of(block: Block, level: LevelTrace) -> Tensor:
    path = tree_map(torch.detach, level.updates)
    events = level.evidence.boundary.sum(1)  # (B,)
    first, d = _overshoot(block, path, path.d[:, 0], events)
    last = path.c[torch.arange(len(d), device=d.device), events.clamp(min=1) - 1]
    start = previous_in_batch(_far_ahead(block, d, last))
    second, _ = _overshoot(block, path, start, events)
    return (first + second) / level.evidence.boundary.numel()


@torch.no_grad()
def _far_ahead(block: Block, d: Tensor, c: Tensor) -> Tensor:
    """d̃ (B, D) after `AHEAD` more predicted events, from d̃ (B, D) under c (B, D)."""
    for _ in range(AHEAD):
        d = block.f_tran(block.p(d, c).mean, d)
    return d


def _overshoot(block: Block, path: Updates, d: Tensor, events: Tensor) -> tuple[Tensor, Tensor]:
    """Σ ln(1 + D_KL(q_τ ‖ p̃_τ)) from d (B, D) at the first event, and d̃ (B, D) after the last."""
    s, total = path.s[:, 0], path.s.new_zeros(())
    for k in range(1, path.s.shape[1]):
        here = k < events  # (B,)
        moved = block.f_tran(s, d)
        p = block.p(moved, path.c[:, k])
        apart = torch.log1p(kl(Belief(path.q.mean[:, k], path.q.std[:, k]), p))
        total = total + torch.where(here, apart, 0.0).sum()
        d = torch.where(here.unsqueeze(1), moved, d)
        s = torch.where(here.unsqueeze(1), p.mean, s)
    return total, d
