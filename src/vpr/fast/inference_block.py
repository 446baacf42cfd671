"""`Block` without modules and gradients, for event detection, streaming and rollouts.

Detection is a sequence of many small matrix products, for which calling a module costs as much as
the product itself.

Plain version: `vpr.block.Block`, compared in tests/test_stream.py and tests/test_model.py.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.block import Block, BlockState, ComparisonCache
from vpr.nets.dense import SLOPE, GaussianHead, Layers


class InferenceBlock:
    """The methods of `Block` that process one frame, with the weights of the block when it is made.

    Every tensor has rows (R, ...).
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
