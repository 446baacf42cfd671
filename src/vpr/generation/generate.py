"""Rollouts and samples of one level, with the states s of all other levels constant.

The context c of the levels below follows from the level that changes: c^{n−1} = f_dec(s^n, c^n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import BlockState, InferenceBlock
from vpr.errors import VPRError
from vpr.model import VPR, with_fixed_start
from vpr.state import State
from vpr.utils.checks import check_count, check_level, check_state
from vpr.utils.tree import shapes_in_repr, tree_map

Below = Literal["held", "means", "samples"]  # the states of the levels below the rollout
States = Callable[[int, Tensor], Tensor]  # index of a level, its c (B, K, D) → its s (B, K, S)


@shapes_in_repr
class Rollout(NamedTuple):
    """K events of one level."""

    frames: Tensor  # (B, K, *frame)
    beliefs: Belief  # (B, K, S) p(s_τ | d_τ, c) of each event
    states: Tensor  # (B, K, S) s_τ of each event
    state: State  # after the last event; the states of the other levels are unchanged


@shapes_in_repr
class Samples(NamedTuple):
    """n samples of one level."""

    frames: Tensor  # (B, n, *frame)
    belief: Belief  # (B, S) the distribution of the samples
    states: Tensor  # (B, n, S)


@torch.no_grad()
def rollout(
    model: VPR,
    state: State,
    level: int,
    steps: int,
    *,
    samples: bool = False,
    generator: torch.Generator | None = None,
    below: Below = "held",
) -> Rollout:
    """Predict the next `steps` events of a level: d ← f_tran(s, d), s ← mean of p(s | d, c).

    With `samples`, every s of the level is sampled instead, with `generator`. The levels `below`
    are held, or are predicted without a past (appendix C.1): at each event their s is the mean, or
    a sample, of p(s | d = 0, c). `rollout`, `step` and `observe` can continue from the new state.
    """
    n = _index(model, state, level)
    check_count("steps", steps)
    if below not in get_args(Below):
        raise VPRError(f"below must be one of {', '.join(get_args(Below))}, got {below!r}")
    uses_noise = samples or below == "samples"
    noise = _noise(model, len(state.time), steps, generator) if uses_noise else None
    beliefs, s, now = _rollout_level(model, n, state.blocks[n], steps, noise if samples else None)
    empty = _without_past(model, noise if below == "samples" else None)
    frames = _decode(model, n, now.c, s, _held(state) if below == "held" else empty)
    blocks = (*state.blocks[:n], now, *state.blocks[n + 1 :])
    if n == 1:  # level 1 updates at every frame, with the c¹ of level 2
        c = model.levels()[n].f_dec(now.c, now.s)
        blocks = (blocks[0]._replace(c=c), *blocks[1:])
    return Rollout(frames, beliefs, s, state._replace(blocks=blocks))


@torch.no_grad()
def sample(
    model: VPR,
    state: State,
    level: int,
    n: int,
    generator: torch.Generator | None = None,
    *,
    empty: bool = True,
) -> Samples:
    """Draw `n` alternatives to the current state of a level, given its context c.

    They are drawn from p(s | d = 0, c), which does not depend on previous events; at the top level
    it is N(0, 1). With `empty=False` they are drawn from p(s | d_τ, c_τ), the prediction of the
    current state. A trained model predicts a single event, so these samples look alike, while the
    samples in figure 6 of the paper are diverse.
    """
    index = _index(model, state, level)
    check_count("n", n)
    now = state.blocks[index]
    d = torch.zeros_like(now.d) if empty else now.d
    belief = model.prior(index, d, now.c)
    noise = model.noise(len(d), n, generator)[:, index].transpose(0, 1)  # (B, n, S)
    s = torch.addcmul(belief.mean.unsqueeze(1), belief.std.unsqueeze(1), noise)
    return Samples(_decode(model, index, now.c, s, _held(state)), belief, s)


@torch.no_grad()
def decode(model: VPR, state: State, level: int, s: Tensor) -> Tensor:
    """Decode states s (B, K, S) of a level to frames (B, K, *frame), all other levels held."""
    n = _index(model, state, level)
    return _decode(model, n, state.blocks[n].c, s, _held(state))


def _index(model: VPR, state: State, level: int) -> int:
    check_state(state, model.config)
    check_level(level, model.config)
    return level - 1


def _noise(model: VPR, batch: int, steps: int, generator: torch.Generator | None) -> Tensor:
    """ε (K, N, B, S), drawn step by step: one long rollout equals several short ones."""
    return torch.cat([model.noise(batch, 1, generator) for _ in range(steps)])


def _rollout_level(
    model: VPR, n: int, now: BlockState, steps: int, noise: Tensor | None
) -> tuple[Belief, Tensor, BlockState]:
    """Beliefs and states (B, K, S) of K events, and the state of the level after the last."""
    block, top = model.levels()[n], n + 1 == model.config.levels
    fast, d_next, c, events = InferenceBlock(block), now.d_next, now.c, []
    for k in range(steps):
        d = d_next
        p = with_fixed_start(fast.prior(d, c), d) if top and k == 0 else fast.prior(d, c)
        s = p.rsample(noise[k, n] if noise is not None else None)
        d_next = fast.f_tran(s, d)
        events.append((p, s))
    beliefs, states = tree_map(lambda *each: torch.stack(each, 1), *events)
    return beliefs, states, block.update_from_prior(d, c, s, p, d_next)


def _held(state: State) -> States:
    return lambda n, c: state.blocks[n].s.unsqueeze(1).expand(-1, c.shape[1], -1)


def _without_past(model: VPR, noise: Tensor | None) -> States:
    def draw(n: int, c: Tensor) -> Tensor:
        p = model.prior(n, torch.zeros_like(c), c)
        return p.rsample(noise[:, n].transpose(0, 1) if noise is not None else None)

    return draw


def _decode(model: VPR, n: int, c: Tensor, s: Tensor, below: States) -> Tensor:
    """Decode states s (B, K, S) of level n, under its c (B, D), to frames (B, K, *frame)."""
    c = c.unsqueeze(1).expand(-1, s.shape[1], -1)
    c = model.levels()[n].f_dec(c, s)
    for m in reversed(range(n)):
        c = model.levels()[m].f_dec(c, below(m, c))
    return model.reconstruct(c)
