"""A naive implementation of the hierarchy, as a reference for `vpr bench train`.

Every network is called at each frame and level for the whole batch, and the result is masked.
Nothing is cached or batched over frames. The naive model shares the parameters of a model and
computes the same trace.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.block import BlockState, Updates
from vpr.events import Evidence, Window
from vpr.model import VPR
from vpr.state import LevelTrace, State, Trace, UpdateIndex
from vpr.utils.tree import tree_map


class LevelStep(NamedTuple):
    """One level after one frame."""

    s: Tensor  # (B, S)
    q: Belief  # (B, S)
    p: Belief  # (B, S)
    kl: Tensor  # (B,)
    evidence: Evidence  # (B,) each
    x: Tensor  # (B, H)
    updates: Updates  # the last update, without K


class NaiveVPR(VPR):
    """`observe_encoded` without optimisations; its states have no `ComparisonCache`."""

    def observe_encoded(
        self, x0: Tensor, state: State | None = None, noise: Tensor | None = None
    ) -> Trace:
        state = state if state is not None else self.initial(len(x0))
        c0: list[Tensor] = []
        steps: list[tuple[LevelStep, ...]] = []
        for t, frame in enumerate(x0.unbind(1)):
            x = self._compressed(frame)
            with torch.no_grad():
                evidence, windows = self._collect_evidence(state, x)
            blocks = self._update(state, x, evidence, noise[t] if noise is not None else None)
            c0.append(self.levels()[0].f_dec(blocks[0].c, blocks[0].s))
            steps.append(tuple(map(self._level_step, count(), blocks, evidence, x)))
            state = State(blocks, windows, state.time + 1)
        levels = tuple(_stacked(list(level)) for level in zip(*steps, strict=True))
        return Trace(torch.stack(c0, 1), levels, state)

    def _compressed(self, x: Tensor) -> list[Tensor]:
        """The compressed x (B, E) of one frame, for each level."""
        compressed = []
        for n in range(self.config.levels):
            x = self.levels()[n].f_enc(x)
            compressed.append(self.levels()[n].compress(x))
        return compressed

    def _collect_evidence(
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
            mean_kl = windows[n - 1].mean()
            decision = self.rule.decide(n + 1, state.time, kl_static, kl_change, mean_kl)
            evidence.append(decision.evidence(kl_static, kl_change).masked(arrives, first))
            rows = arrives.nonzero().squeeze(1)
            windows[n - 1] = windows[n - 1].push(kl_static[rows], rows)
        return tuple(evidence), tuple(windows)

    def _divergences(self, n: int, now: BlockState, x: Tensor) -> tuple[Tensor, Tensor]:
        """D_st and D_ch (B,)."""
        block = self.levels()[n]
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
                c = self.levels()[n + 1].f_dec(blocks[n + 1].c, blocks[n + 1].s)
            d = blocks[n].d_next
            q = self.levels()[n].q(x[n], d, c)
            s = q.rsample(noise[n] if noise is not None else None)
            new = BlockState(d, c, s, q, self.levels()[n].f_tran(s, d), None)
            blocks[n] = _where(evidence[n].boundary, new, blocks[n])
        return tuple(blocks)

    def _level_step(self, n: int, block: BlockState, evidence: Evidence, x: Tensor) -> LevelStep:
        """A level after a frame, with the prior of the present event."""
        p = self.prior(n, block.d, block.c)
        divergence = torch.where(evidence.boundary, kl(block.q, p), 0.0)
        updates = Updates(block.d, block.c, block.s, block.q)
        projected = self.levels()[n].q.of_x(x)
        return LevelStep(block.s, block.q, p, divergence, evidence, projected, updates)


def make_naive(model: VPR) -> NaiveVPR:
    """A naive version of a model that shares its parameters."""
    naive = NaiveVPR(model.config)
    naive.codec, naive.blocks = model.codec, model.blocks
    naive.typical_kl, naive.rule = model.typical_kl, model.rule
    return naive


def _where(update: Tensor, new: BlockState, old: BlockState) -> BlockState:
    """`new` for sequences with `update` (B,), else `old`."""
    return tree_map(lambda a, b: torch.where(update.unsqueeze(1), a, b), new, old)


def _stacked(steps: list[LevelStep]) -> LevelTrace:
    """Stack T steps (B, …) of a level to its trace (B, T, …)."""
    first, *rest = steps
    stacked = tree_map(lambda *values: torch.stack(values, 1), first, *rest)
    return LevelTrace(*stacked, UpdateIndex(torch.ones_like(stacked.evidence.boundary)))
