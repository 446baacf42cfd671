"""One level of the hierarchy: its channels x, c, d, its state s and the networks between them.

`Block` has the networks. `InferenceBlock` computes the same for one frame, faster.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.nets.dense import (
    SLOPE,
    GaussianHead,
    Layers,
    LoopLinear,
    Posterior,
    Prior,
    ResidualStack,
    Stack,
    Transition,
    activate,
)
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
    ) -> BlockState:
        """The state after an update without an observation: the prior p replaces the posterior."""
        from_c = self.q.of_c(c)
        context = self.q.of_d(d) + from_c
        return BlockState(d, c, s, p, d_next, self._cache(p, d_next, c, context, from_c))

    @torch.no_grad()  # comparisons are not differentiated
    def _cache(
        self,
        p_st: Belief,
        d_next: Tensor,
        c: Tensor,
        context: Tensor,
        from_c: Tensor,
    ) -> ComparisonCache | None:
        if not self.compares:
            return None
        contexts = torch.stack([context, self.q.of_d(d_next) + from_c], 1)
        return ComparisonCache.of(p_st, self.p(d_next, c), contexts)

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


class InferenceBlock:
    """The methods of `Block` that process one frame, without modules and gradients.

    For detection, streams and rollouts, which are sequences of many small matrix products: calling
    a module costs as much as the product itself. Uses the weights that the block has when this is
    made. Every tensor has rows (R, ...).

    Plain version: `Block`, compared in tests/test_stream.py and tests/test_model.py.
    """

    def __init__(self, block: Block) -> None:
        q, f_tran = block.q, block.f_tran
        self.compares = block.compares
        self._f_enc, self._f_dec = _Layers(block.f_enc.net), _Layers(block.f_dec.net)
        self._compress = _Layers(block.compress)
        self._posterior, self._prior = _GaussianHead(q.head), _GaussianHead(block.p.head)
        self._of_x = q.of_x.weight.detach().t(), q.of_x.bias.detach()
        self._of_d, self._of_c = q.of_d.weight.detach().t(), q.of_c.weight.detach().t()
        self._dense = f_tran.dense.weight.detach().t(), f_tran.dense.bias.detach()
        self._gru = [weight.detach() for weight in f_tran.gru.parameters()]
        self._last_c: tuple[Tensor, Tensor] | None = None

    def f_enc(self, x: Tensor) -> Tensor:  # (R, D) → (R, D)
        return self._f_enc(x).add_(x, alpha=0.1)

    def f_dec(self, c: Tensor, s: Tensor) -> Tensor:  # (R, D), (R, S) → (R, D)
        return self._f_dec(torch.cat([c, s], -1)).add_(c, alpha=0.1)

    def project(self, x: Tensor) -> Tensor:  # (R, D) → (R, H)
        weight, bias = self._of_x
        return torch.addmm(bias, self._compress(x), weight)

    def compare(self, now: BlockState, x: Tensor) -> tuple[Tensor, Tensor]:
        """D_st and D_ch (R,); see `Block.compare`. `now` has R rows, or one row for all x."""
        assert now.cache is not None
        first = F.leaky_relu_(x.unsqueeze(1) + now.cache.contexts, SLOPE).flatten(0, 1)
        q = Belief(*(value.view(-1, 2, value.shape[-1]) for value in self._posterior(first)))
        kl_static, kl_change = kl(q, now.cache.p).unbind(1)
        return kl_static, kl_change

    def update(self, d: Tensor, x: Tensor, c: Tensor, noise: Tensor | None) -> BlockState:
        """See `Block.update`."""
        from_c = self._from_c(c)
        context = torch.addmm(from_c, d, self._of_d)
        q = self._posterior(F.leaky_relu_(context + x, SLOPE))
        s = q.rsample(noise)
        d_next = self.f_tran(s, d)
        if not self.compares:
            return BlockState(d, c, s, q, d_next, None)
        p_ch = self.prior(d_next, c)
        contexts = torch.stack([context, torch.addmm(from_c, d_next, self._of_d)], 1)
        return BlockState(d, c, s, q, d_next, ComparisonCache.of(q, p_ch, contexts))

    def _from_c(self, c: Tensor) -> Tensor:  # (R, D) → (R, H)
        """The contribution of c to the posterior. While the level above is blocked, c is the same
        tensor from update to update."""
        if self._last_c is None or self._last_c[0] is not c:
            self._last_c = c, torch.mm(c, self._of_c)
        return self._last_c[1]

    def prior(self, d: Tensor, c: Tensor) -> Belief:  # (R, D) twice → (R, S)
        return self._prior(torch.cat([d, c], -1))

    def f_tran(self, s: Tensor, d: Tensor) -> Tensor:  # (R, S), (R, D) → (R, D)
        weight, bias = self._dense
        return torch.gru_cell(F.leaky_relu_(torch.addmm(bias, s, weight), SLOPE), d, *self._gru)


class _Layers:
    """`vpr.nets.dense.Layers`."""

    def __init__(self, net: Layers) -> None:
        self.first, *self.others = (
            (layer.weight.detach().t(), layer.bias.detach())  # type: ignore[operator]
            for layer in net.layers
        )

    def __call__(self, x: Tensor) -> Tensor:  # (R, inputs) → (R, outputs)
        weight, bias = self.first
        x = torch.addmm(bias, x, weight)
        for weight, bias in self.others:
            x = torch.addmm(bias, F.leaky_relu_(x, SLOPE), weight)
        return x


class _GaussianHead:
    """`vpr.nets.dense.GaussianHead`."""

    def __init__(self, head: GaussianHead) -> None:
        self.net, self.min_std = _Layers(head.net), head.min_std

    def __call__(self, x: Tensor) -> Belief:  # (R, inputs) → Belief (R, S)
        mean, raw = self.net(x).chunk(2, -1)
        return Belief(mean, F.softplus(raw).add_(self.min_std))
