"""What could come next, and what else there could be: one level moves, the others hold.

The others hold their states s; the context c that levels below get follows from the level that
moves, since c^{n−1} = f_dec(s^n, c^n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from vpr.beliefs import Belief
from vpr.block import Block, BlockState
from vpr.errors import VPRError
from vpr.fast.rollout import Jumper, Jumps
from vpr.model import VPR
from vpr.state import State
from vpr.utils.checks import check_count, check_level, check_state
from vpr.utils.tree import tree_map

Below = Literal["held", "means", "samples"]  # what levels below the one that jumps are taken to be
States = Callable[[int, Tensor], Tensor]  # index of a level, its c (B, K, D) → its s (B, K, S)


class Rollout(NamedTuple):
    """K jumps of one level."""

    frames: Tensor  # (B, K, *frame)
    beliefs: Belief  # (B, K, S) p(s_τ | d_τ, c) of each jump
    states: Tensor  # (B, K, S) s_τ of each jump
    state: State  # after the last jump, to go on from; the other levels hold their states


class Draws(NamedTuple):
    """n draws at one level."""

    frames: Tensor  # (B, n, *frame)
    belief: Belief  # (B, S) what they are drawn from
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
    """The next `steps` events of a level: d ← f_tran(s, d), then s ← the mean of p(s | d, c).

    `samples` draws every s of the level instead, from `generator`. The levels `below` are held, or
    have no past (appendix C.1): at each event their s is the mean, or a sample, of p(s | d = 0, c).
    The state that comes back is good for `rollout`, `step` and `observe`.
    """
    n = _index(model, state, level)
    check_count("steps", steps)
    if below not in get_args(Below):
        raise VPRError(f"below must be one of {', '.join(get_args(Below))}, got {below!r}")
    drawn = samples or below == "samples"
    noise = _noise(model, len(state.time), steps, generator) if drawn else None
    beliefs, s, now = _jump(model, n, state.blocks[n], steps, noise if samples else None)
    empty = _empty(model, noise if below == "samples" else None)
    frames = _paint(model, n, now.c, s, _held(state) if below == "held" else empty)
    blocks = (*state.blocks[:n], now, *state.blocks[n + 1 :])
    if n == 1:  # level 1 updates at every frame, under the c¹ that level 2 gives it
        c = _block(model, n).f_dec(now.c, now.s)
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
) -> Draws:
    """`n` draws of a level's present state, under the c that it has: what else it could be.

    They come from p(s | d = 0, c), all that can stand under what the levels above say; at the top
    level that is N(0, 1). Not `empty`, they come from p(s | d_τ, c_τ), the prediction of the
    present state. That is one event and no other once a model has learned what follows what: such
    draws look alike, while those of the paper's figure 6 are diverse.
    """
    index = _index(model, state, level)
    check_count("n", n)
    now = state.blocks[index]
    d = torch.zeros_like(now.d) if empty else now.d
    belief = model.prior(index, d, now.c)
    noise = model.noise(len(d), n, generator)[:, index].transpose(0, 1)  # (B, n, S)
    s = torch.addcmul(belief.mean.unsqueeze(1), belief.std.unsqueeze(1), noise)
    return Draws(_paint(model, index, now.c, s, _held(state)), belief, s)


@torch.no_grad()
def decode(model: VPR, state: State, level: int, s: Tensor) -> Tensor:
    """Frames (B, K, *frame) of other states s (B, K, S) of a level, all other levels held."""
    n = _index(model, state, level)
    return _paint(model, n, state.blocks[n].c, s, _held(state))


def _index(model: VPR, state: State, level: int) -> int:
    check_state(state, model.config)
    check_level(level, model.config)
    return level - 1


def _block(model: VPR, n: int) -> Block:
    return model.blocks[n]  # type: ignore[return-value]


def _noise(model: VPR, batch: int, steps: int, generator: torch.Generator | None) -> Tensor:
    """ε (K, N, B, S), drawn step by step: a long rollout draws what several short ones would."""
    return torch.cat([model.noise(batch, 1, generator) for _ in range(steps)])


def _jump(
    model: VPR, n: int, now: BlockState, steps: int, noise: Tensor | None
) -> tuple[Belief, Tensor, BlockState]:
    """Beliefs and states (B, K, S) of the jumps, and the level after the last."""
    block, d, c = _block(model, n), now.d_next, now.c
    parts = []
    if n + 1 == model.config.levels and not bool(d.any(-1).all()):  # before the first frame
        parts.append(_opening(model, n, d, c, noise))
        d, steps, noise = parts[0].d_next, steps - 1, noise[1:] if noise is not None else None
    if steps:
        eps = noise[:, n] if noise is not None else None
        parts.append(Jumper(block, c).jump(d, steps, eps))
    p, s = tree_map(lambda *each: torch.cat(each).transpose(0, 1), *(part[:2] for part in parts))
    q, last = Belief(*(value[:, -1] for value in p)), parts[-1]
    return p, s, block.imagined(last.d, c, s[:, -1], q, last.d_next, last.p_next)


def _opening(model: VPR, n: int, d: Tensor, c: Tensor, noise: Tensor | None) -> Jumps:
    """One jump of the top level, to p(s^N_1) where nothing was before."""
    p = model.prior(n, d, c)
    s = p.rsample(noise[0, n] if noise is not None else None)
    told = tree_map(lambda value: value.unsqueeze(0), (p, s))
    d_next = _block(model, n).f_tran(s, d)
    return Jumps(*told, d, d_next, _block(model, n).p(d_next, c))


def _held(state: State) -> States:
    return lambda n, c: state.blocks[n].s.unsqueeze(1).expand(-1, c.shape[1], -1)


def _empty(model: VPR, noise: Tensor | None) -> States:
    def draw(n: int, c: Tensor) -> Tensor:
        p = model.prior(n, torch.zeros_like(c), c)
        return p.rsample(noise[:, n].transpose(0, 1) if noise is not None else None)

    return draw


def _paint(model: VPR, n: int, c: Tensor, s: Tensor, below: States) -> Tensor:
    """From states s (B, K, S) of level n under its c (B, D) down to frames, all K in one call."""
    c = c.unsqueeze(1).expand(-1, s.shape[1], -1)
    c = _block(model, n).f_dec(c, s)
    for m in reversed(range(n)):
        c = _block(model, m).f_dec(c, below(m, c))
    return model.reconstruct(c)
