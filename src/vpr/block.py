"""One level of the hierarchy: its channels x, c, d, its state s and the networks between them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from vpr.beliefs import Belief
from vpr.networks import FourLayers, GaussianHead, ResidualStack, Transition


class BlockState(NamedTuple):
    """What a level remembers from its last update until its next one."""

    d: Tensor  # (B, D) d_τ, the temporal context of the last update
    c: Tensor  # (B, D) c_τ, the top-down context of the last update
    s: Tensor  # (B, S) s_τ, the sample
    q: Belief  # (B, S) the last posterior, which is p_st of the next comparison
    d_next: Tensor  # (B, D) d_{τ+1} = f_tran(s_τ, d_τ), predicted
    p_ch: Belief | None  # (B, S) p_θ(s_{τ+1} | d_{τ+1}, c_τ), kept; level 1 compares nothing


class Block(nn.Module):
    """The networks of one level n.

    encoder     x^n     = f_enc(x^{n−1})
    decoder     c^{n−1} = f_dec(s^n, c^n)
    transition  d_{τ+1} = f_tran(s_τ, d_τ)
    posterior   q_φ(s_τ | x_τ, d_τ, c_τ)
    prior       p_θ(s_τ | d_τ, c_τ)
    """

    def __init__(self, width: int, state_size: int, min_std: float, compares: bool) -> None:
        super().__init__()
        self.width, self.state_size, self.compares = width, state_size, compares
        self.f_enc = ResidualStack(width)
        self.f_dec = ResidualStack(width, state_size)
        self.f_tran = Transition(state_size, width)
        compressed = 2 * state_size
        self.compress = FourLayers(width, width, compressed)
        self.q = GaussianHead(compressed + 2 * width, width, state_size, min_std, start=0.13)
        self.p = GaussianHead(2 * width, width, state_size, min_std, start=0.7)

    def initial(self, batch: int, like: Tensor) -> BlockState:
        """Before the first frame: d_1 = 0, nothing believed yet."""
        wide = like.new_zeros(batch, self.width)
        s = like.new_zeros(batch, self.state_size)
        nothing = Belief.standard(s)
        return BlockState(wide, wide, s, nothing, wide, nothing if self.compares else None)

    def update(self, state: BlockState, x: Tensor, c: Tensor, noise: Tensor | None) -> BlockState:
        """Move to the next subjective timestep: x (B, E) compressed, c (B, D), noise (B, S)."""
        d = state.d_next
        q = self.q(x, d, c)
        s = q.rsample(noise)
        d_next = self.f_tran(s, d)
        return BlockState(d, c, s, q, d_next, self._predict(d_next, c))

    def _predict(self, d_next: Tensor, c: Tensor) -> Belief | None:
        """p_ch serves decisions only, which are not differentiated."""
        if not self.compares:
            return None
        with torch.no_grad():
            return self.p(d_next, c)  # type: ignore[no-any-return]
