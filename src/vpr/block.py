"""One level of the hierarchy: its channels x, c, d, its state s and the networks between them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.fast.loop_linear import LoopLinear
from vpr.nets.dense import Posterior, Prior, ResidualStack, Stack, Transition, activate
from vpr.utils.tree import shapes_in_repr


@shapes_in_repr
class ComparisonCache(NamedTuple):
    """The part of a comparison that changes only when the level updates.

    Index 0 of the second dimension is the static hypothesis (nothing changed), index 1 the change
    hypothesis (the next event has begun).
    """

    p: Belief  # (B, 2, S) p_st, the last posterior, and p_ch = p_θ(s_{τ+1} | d_{τ+1}, c_τ)
    contexts: Tensor  # (B, 2, H) q's first layer without x: under (d_τ, c_τ), under (d_{τ+1}, c_τ)

    @classmethod
    def of(cls, p_st: Belief, p_ch: Belief, contexts: Tensor) -> ComparisonCache:
        both = (torch.stack(pair, 1) for pair in zip(p_st, p_ch, strict=True))
        return cls(Belief(*both), contexts)


@shapes_in_repr
class BlockState(NamedTuple):
    """What a level stores from one update to the next."""

    d: Tensor  # (B, D) d_τ, the temporal context of the last update
    c: Tensor  # (B, D) c_τ, the top-down context of the last update
    s: Tensor  # (B, S) s_τ, the sample
    q: Belief  # (B, S) the last posterior, which is p_st of the next comparison
    d_next: Tensor  # (B, D) d_{τ+1} = f_tran(s_τ, d_τ), predicted
    cache: ComparisonCache | None  # None at level 1, which makes no comparisons


@shapes_in_repr
class Updates(NamedTuple):
    """The K updates of one level, in order of time."""

    d: Tensor  # (B, K, D)
    c: Tensor  # (B, K, D)
    s: Tensor  # (B, K, S)
    q: Belief  # (B, K, S)


class Block(nn.Module):
    """The networks of one level n.

    encoder     x^n     = f_enc(x^{n−1})
    decoder     c^{n−1} = f_dec(s^n, c^n)
    transition  d_{τ+1} = f_tran(s_τ, d_τ)
    posterior   q_φ(s_τ | x_τ, d_τ, c_τ)
    prior       p_θ(s_τ | d_τ, c_τ)
    """

    def __init__(
        self, width: int, state_size: int, layers: int, min_std: float, compares: bool
    ) -> None:
        super().__init__()
        self.width, self.state_size, self.compares = width, state_size, compares
        self.f_enc = ResidualStack(width, layers)
        self.f_dec = ResidualStack(width, layers, state_size)
        self.f_tran = Transition(state_size, width)
        compressed = 2 * state_size
        self.compress = Stack(width, width, compressed, layers)
        self.q = Posterior(compressed, width, state_size, layers, min_std)
        self.p = Prior(width, state_size, layers, min_std)

    def initial(self, batch: int, like: Tensor) -> BlockState:
        """The state before the first frame: d_1 = 0. `like` gives dtype and device."""
        wide = like.new_zeros(batch, self.width)
        s = like.new_zeros(batch, self.state_size)
        standard = Belief.standard(s)
        cache = ComparisonCache.of(standard, standard, like.new_zeros(batch, 2, self.width))
        return BlockState(wide, wide, s, standard, wide, cache if self.compares else None)

    def project(self, x: Tensor) -> Tensor:
        """The contribution of x^n (..., D) to the first layer of the posterior (..., H).

        It depends on the frame only, so it is computed for all frames at once.
        """
        return self.q.of_x(self.compress(x))  # type: ignore[no-any-return]

    def hypotheses(self, now: BlockState, x: Tensor) -> tuple[Belief, Belief]:
        """q and p (B, 2, S) of both hypotheses for a new projected x (B, H).

        Static: q_st = q(s | x, d_τ, c_τ) and p_st, the last posterior.
        Change: q_ch = q(s | x, d_{τ+1}, c_τ) and p_ch = p(s | d_{τ+1}, c_τ).
        """
        assert now.cache is not None
        return self.q.given(x.unsqueeze(1) + now.cache.contexts), now.cache.p

    def compare(self, now: BlockState, x: Tensor) -> tuple[Tensor, Tensor]:
        """D_st = D_KL(q_st ‖ p_st) and D_ch = D_KL(q_ch ‖ p_ch), each (B,); see `hypotheses`."""
        kl_static, kl_change = kl(*self.hypotheses(now, x)).unbind(1)
        return kl_static, kl_change

    def update(self, d: Tensor, x: Tensor, c: Tensor, noise: Tensor | None) -> BlockState:
        """The state after one update.

        d (B, D) is the predicted temporal context of this update; x (B, H) is projected;
        c (B, D), noise (B, S).
        """
        from_c = self.q.of_c(c)
        context = self.q.of_d(d) + from_c
        q = self.q.given(x + context)
        s = q.rsample(noise)
        d_next = self.f_tran(s, d)
        return BlockState(d, c, s, q, d_next, self._cache(q, d_next, c, context, from_c))

    def update_from_prior(
        self,
        d: Tensor,
        c: Tensor,
        s: Tensor,
        p: Belief,
        d_next: Tensor,
        p_next: Belief | None = None,
    ) -> BlockState:
        """The state after an update without an observation: the prior p replaces the posterior.

        `p_next` is p(s | d_next, c), if the caller has it already.
        """
        from_c = self.q.of_c(c)
        context = self.q.of_d(d) + from_c
        return BlockState(d, c, s, p, d_next, self._cache(p, d_next, c, context, from_c, p_next))

    @torch.no_grad()  # comparisons are not differentiated
    def _cache(
        self,
        p_st: Belief,
        d_next: Tensor,
        c: Tensor,
        context: Tensor,
        from_c: Tensor,
        p_ch: Belief | None = None,
    ) -> ComparisonCache | None:
        if not self.compares:
            return None
        contexts = torch.stack([context, self.q.of_d(d_next) + from_c], 1)
        return ComparisonCache.of(p_st, p_ch or self.p(d_next, c), contexts)

    def unroll(
        self, d: Tensor, x: Tensor, c: Tensor, noise: Tensor | None
    ) -> tuple[Updates, Tensor]:
        """K calls of `update` with known inputs: x (B, K, H), c (B, K, D), noise (B, K, S).

        The contributions of x and c to the posterior are computed for all K updates at once; only
        d depends on the previous update. Also returns d_{K+1} (B, D).
        """
        rows, steps = x.shape[:2]
        first = LoopLinear(self.q.of_d.weight, (x + self.q.of_c(c)).transpose(0, 1))
        head, f_tran = self.q.head.in_loop(steps, rows), self.f_tran.in_loop(steps, rows)
        ds, ss, qs = [], [], []
        for k in range(steps):
            q = head(activate(first(d)))
            s = q.rsample(noise[:, k] if noise is not None else None)
            ds.append(d)
            ss.append(s)
            qs.append(q)
            d = f_tran(s, d)
        mean, std = (torch.stack(each, 1) for each in zip(*qs, strict=True))
        return Updates(torch.stack(ds, 1), c, torch.stack(ss, 1), Belief(mean, std)), d
