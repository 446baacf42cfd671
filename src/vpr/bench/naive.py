"""The hierarchy written down naively: every network called for each frame and each level.

It is written for a batch, so that whatever some sequence needs is computed for all, and masked.
Nothing is kept that could be computed again, nothing waits to be computed with its like. It shares
the parameters of a model and gives the same trace, so the difference in time is the writing's.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, Updates
from vpr.events import Evidence, Window
from vpr.model import VPR
from vpr.state import LevelTrace, State, Trace, UpdateIndex
from vpr.utils.tree import tree_map


class Moment(NamedTuple):
    """One level after one frame."""

    s: Tensor  # (B, S)
    q: Belief  # (B, S)
    p: Belief  # (B, S)
    kl: Tensor  # (B,)
    evidence: Evidence  # (B,) each
    x: Tensor  # (B, H)
    updates: Updates  # the update in force, without K


class Naive(VPR):
    """`observe_encoded` without optimisations; its states have no `ComparisonCache`."""

    def observe_encoded(
        self,
        x0: Tensor,
        state: State | None = None,
        noise: Tensor | None = None,
    ) -> Trace:
        state = state if state is not None else self.initial(len(x0))
        c0: list[Tensor] = []
        moments: list[tuple[Moment, ...]] = []
        for t, frame in enumerate(x0.unbind(1)):
            x = self._compressed(frame)
            with torch.no_grad():  # a decision has no gradient
                evidence, windows = self._ask(state, x)
            blocks = self._update(state, x, evidence, noise[t] if noise is not None else None)
            c0.append(self._networks(0).f_dec(blocks[0].c, blocks[0].s))
            moments.append(tuple(map(self._moment, count(), blocks, evidence, x)))
            state = State(blocks, windows, state.time + 1)
        levels = tuple(_stacked(list(over_time)) for over_time in zip(*moments, strict=True))
        return Trace(torch.stack(c0, 1), levels, state)

    def _networks(self, n: int) -> Block:
        return self.blocks[n]  # type: ignore[return-value]

    def _compressed(self, x: Tensor) -> list[Tensor]:
        """Each level's compressed x (B, E) of one frame."""
        compressed = []
        for n in range(self.config.levels):
            x = self._networks(n).f_enc(x)
            compressed.append(self._networks(n).compress(x))
        return compressed

    def _ask(
        self, state: State, x: list[Tensor]
    ) -> tuple[tuple[Evidence, ...], tuple[Window, ...]]:
        first = state.time == 0
        unknown = torch.full_like(x[0][:, 0], torch.nan)
        never = torch.zeros_like(first)
        evidence = [Evidence(unknown, unknown, unknown, never, never, ~never)]
        windows = list(state.windows)
        for n in range(1, self.config.levels):
            arrives = evidence[-1].boundary & ~first
            kl_static, kl_change = self._divergences(n, state.blocks[n], x[n])
            mean_kl = windows[n - 1].mean(self.rule.power)
            decision = self.rule.decide(n + 1, state.time, kl_static, kl_change, mean_kl)
            evidence.append(decision.evidence(kl_static, kl_change).masked(arrives, first))
            rows = arrives.nonzero().squeeze(1)
            windows[n - 1] = windows[n - 1].push(kl_static[rows], rows)
        return tuple(evidence), tuple(windows)

    def _divergences(self, n: int, now: BlockState, x: Tensor) -> tuple[Tensor, Tensor]:
        """D_st and D_ch (B,)."""
        block = self._networks(n)
        q_st = block.q(x, now.d, now.c)
        q_ch = block.q(x, now.d_next, now.c)
        p_ch = block.p(now.d_next, now.c)
        return kl(q_st, now.q), kl(q_ch, p_ch)

    def _update(
        self, state: State, x: list[Tensor], evidence: tuple[Evidence, ...], noise: Tensor | None
    ) -> tuple[BlockState, ...]:
        blocks = list(state.blocks)
        for n in reversed(range(self.config.levels)):
            c = torch.zeros_like(blocks[n].c)
            if n + 1 < self.config.levels:
                c = self._networks(n + 1).f_dec(blocks[n + 1].c, blocks[n + 1].s)
            d = blocks[n].d_next
            q = self._networks(n).q(x[n], d, c)
            s = q.rsample(noise[n] if noise is not None else None)
            new = BlockState(d, c, s, q, self._networks(n).f_tran(s, d), None)
            blocks[n] = _where(evidence[n].boundary, new, blocks[n])
        return tuple(blocks)

    def _moment(self, n: int, block: BlockState, evidence: Evidence, x: Tensor) -> Moment:
        """With the prior of the event in force; p(s^N_1) = N(0, 1)."""
        p = self._networks(n).p(block.d, block.c)
        if n + 1 == self.config.levels:
            opening = (block.d == 0).all(-1, keepdim=True)
            p = Belief(p.mean.masked_fill(opening, 0.0), p.std.masked_fill(opening, 1.0))
        divergence = torch.where(evidence.boundary, kl(block.q, p), 0.0)
        updates = Updates(block.d, block.c, block.s, block.q)
        projected = self._networks(n).q.of_x(x)
        return Moment(block.s, block.q, p, divergence, evidence, projected, updates)


def make_naive(model: VPR) -> Naive:
    """The naive twin of a model, with the very same parameters."""
    twin = Naive(model.config)
    twin.codec, twin.blocks = model.codec, model.blocks
    twin.typical_kl, twin.rule = model.typical_kl, model.rule
    return twin


def _where(update: Tensor, new: BlockState, old: BlockState) -> BlockState:
    """Per sequence: `new` where `update` (B,) holds, `old` where it does not."""
    return tree_map(lambda a, b: torch.where(update.unsqueeze(1), a, b), new, old)


def _stacked(moments: list[Moment]) -> LevelTrace:
    """T moments (B, …) as one level's trace (B, T, …)."""
    first, *rest = moments
    stacked = tree_map(lambda *values: torch.stack(values, 1), first, *rest)
    return LevelTrace(*stacked, UpdateIndex(torch.ones_like(stacked.evidence.boundary)))
