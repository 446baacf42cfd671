"""Loss terms in addition to the ELBO. Each receives the trace of a batch and returns one number per
level, in nats per frame, which is weighted by β like that level's KL. None is part of the model.

A term is used in the stages of a run that name it in `objectives` (`vpr.training.stages.Stage`).
Those of the recipe are also in `vpr.training.additions.ADDITIONS`, so that they can be removed.
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
from vpr.utils.tree import tree_map

Objective = Callable[[VPR, Trace], Tensor]  # → (N,)
BOTTLENECK_WEIGHT = 0.5  # nats of `bottleneck` per nat of content
CONTEXT_EVENTS = 64  # predicted events before those of `overshooting`


def persistence(model: VPR, trace: Trace) -> Tensor:
    """Σ_t ln(1 + D_KL(q_st ‖ p_st)) where a level n ≥ 2 receives the signal and detects no event.

    Nothing in the ELBO of VPR trains q_st, the belief about a new frame under the old context, to
    agree with the last posterior p_st while nothing changes. This is the static component of a
    renewal process, whose prior at every frame is a mixture of the previous posterior and the
    predicted state. The logarithm bounds the gradient where a change was missed, which would
    otherwise pull two different states together. Random updates are not detected events.
    """
    return _each_level(model, trace, _persistence_of)


def overshooting(model: VPR, trace: Trace) -> Tensor:
    """Σ_τ of the mean over all earlier events k of ln(1 + D_KL(q_τ ‖ p̃_τ)), levels n ≥ 2.

    p̃_τ is predicted from event k alone, as in a rollout: s̃_k = s_k, d̃_{τ+1} = f_tran(s̃_τ, d̃_τ),
    p̃_τ = p(s | d̃_τ, c_τ) and s̃_τ its mean. This is latent overshooting; only f_tran and the prior
    learn from it. A rollout may be much longer than a training sequence, so d̃_k is the temporal
    context `CONTEXT_EVENTS` predicted events after the last event of the sequence: what lasts may
    be stored there, but which event comes next has to be read from s̃_k.
    """
    return _each_level(model, trace, _overshooting_of)


def bottleneck(model: VPR, trace: Trace) -> Tensor:
    """Σ_τ 0.5 · D_KL(q_τ ‖ N(0, 1)) over the updates of the levels below the top.

    The ELBO compares a state with its prediction, so a predictable copy of a feature of a higher
    level costs nothing at a lower level. In a rollout of the higher level the copy would stay as it
    is and contradict the prediction. Here a state costs what it contains, predictable or not.
    """
    below = [BOTTLENECK_WEIGHT * _content(level) for level in trace.levels[:-1]]
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
    path, index = level.updates, level.update_index
    asked = level.evidence.kl_static.isfinite()
    stays = asked & ~level.evidence.expected & ~level.evidence.unexpected  # (B, T)
    held = tree_map(index.hold, (block.q.of_d(path.d) + block.q.of_c(path.c), path.q))
    context, p_st = tree_map(lambda value: value[:, :-1], held)  # in force before each frame
    q_st = block.q.given(level.x[:, 1:] + context)
    # The first frame has nothing before it.
    terms = torch.where(stays[:, 1:], torch.log1p(kl(q_st, p_st)), 0.0)
    return terms.sum() / stays.numel()


def _overshooting_of(block: Block, level: LevelTrace) -> Tensor:
    path = tree_map(torch.detach, level.updates)
    events = level.evidence.boundary.sum(1)  # (B,)
    start = _far_ahead(block, path, events)  # (B, D)
    # One row (R,) for each event of each sequence but the last.
    place = torch.arange(path.s.shape[1], device=events.device)
    row, event = (place + 1 < events.unsqueeze(1)).nonzero(as_tuple=True)
    s, d, total = path.s[row, event], start[row], path.s.new_zeros(())
    while len(row):
        event = event + 1  # the event to predict
        d = block.f_tran(s, d)
        p = block.p(d, path.c[row, event])
        q = Belief(path.q.mean[row, event], path.q.std[row, event])
        total = total + (torch.log1p(kl(q, p)) / event).sum()
        more = event + 1 < events[row]
        row, event, s, d = (each[more] for each in (row, event, p.mean, d))
    return total / level.evidence.boundary.numel()


@torch.no_grad()
def _far_ahead(block: Block, path: Updates, events: Tensor) -> Tensor:
    """d̃ (B, D), `CONTEXT_EVENTS` predicted events after the last event of each sequence."""
    rows, last = torch.arange(len(events), device=events.device), events.clamp(min=1) - 1
    s, d, c = path.s[rows, last], path.d[rows, last], path.c[rows, last]
    for _ in range(CONTEXT_EVENTS):
        d = block.f_tran(s, d)
        s = block.p(d, c).mean
    return d
