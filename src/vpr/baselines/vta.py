"""VTA: Variational Temporal Abstraction (Kim, Ahn & Bengio, 2019).

Two levels. z changes at boundaries only, s at every frame. A network on the encoded frames decides
where the boundaries m are. With m_t = 1 (READ)

    b_t = GRU(z_{t−1}, b_{t−1}),  z_t ~ p(z | b_t),  h_t = f(b_t, z_t),  o_t = h_t

and with m_t = 0 (COPY) b, z and h are held and o_t = GRU([s_{t−1}, h_t], o_{t−1}). Then

    s_t ~ p(s | o_t),  g_t = f(o_t, s_t),  frame_t ~ p(· | g_t),  m_{t+1} ~ p(m | g_t).

The posteriors depend on frames: q(z_t) on the frames before t and on the rest of the segment from t
on, q(s_t) on the frames of the segment up to t. They do not depend on states, so only the GRUs need
a loop.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from vpr.baselines.baseline_config import VTAConfig
from vpr.baselines.baseline_model import (
    Baseline,
    BaselineLevel,
    BaselineRollout,
    BaselineTrace,
    boundary_only,
    step_noise,
)
from vpr.baselines.vta_boundaries import (
    BoundaryPosterior,
    boundary_kl,
    constrained,
    draw_boundaries,
    temperature,
)
from vpr.baselines.vta_images import VTAImages
from vpr.beliefs import Belief, kl
from vpr.nets import Codec
from vpr.nets.dense import dense
from vpr.utils.checks import check_count, check_level


class SigmoidHead(nn.Module):
    """A diagonal Gaussian: linear mean, σ = floor + sigmoid(·)."""

    def __init__(self, inputs: int, state_size: int, min_std: float) -> None:
        super().__init__()
        self.net, self.min_std = dense(inputs, 2 * state_size), min_std

    def forward(self, *inputs: Tensor) -> Belief:  # (..., inputs) → Belief (..., S)
        mean, raw = self.net(torch.cat(inputs, -1)).chunk(2, -1)
        return Belief(mean, self.min_std + raw.sigmoid())


class VTAState(NamedTuple):
    """Between two frames. All (B, ...)."""

    z: Tensor  # (B, S)
    b: Tensor  # (B, D) belief of level 2
    s: Tensor  # (B, S)
    o: Tensor  # (B, D) belief of level 1
    length: Tensor  # (B,) frames of the current segment


class VTA(Baseline):
    """Variational Temporal Abstraction."""

    config: VTAConfig

    def __init__(self, config: VTAConfig) -> None:
        super().__init__(config, config.width)
        width, size = config.width, config.state_size
        self.q_m = BoundaryPosterior(width)
        self.p_m = nn.Linear(width, 1)
        self.past = nn.GRU(width, width, batch_first=True)  # of the whole video
        self.rest = nn.GRUCell(width, width)  # of a segment, from its end
        self.begun = nn.GRUCell(width, width)  # of a segment, from its start
        self.q_z = SigmoidHead(2 * width, size, config.min_std)
        self.p_z = SigmoidHead(width, size, config.min_std)
        self.q_s = SigmoidHead(2 * width, size, config.min_std)
        self.p_s = SigmoidHead(width, size, config.min_std)
        self.next_b = nn.GRUCell(size, width)
        self.next_o = nn.GRUCell(size + width, width)
        self.f_h = dense(width + size, width)
        self.f_g = dense(width + size, width)

    def _make_codec(self, width: int) -> Codec:
        if self.config.images == "published":
            return VTAImages(self.config.frame, width, self.likelihood.output_scale)
        return super()._make_codec(width)

    @property
    def noise_size(self) -> int:
        """The state, and the boundary in the last place of level 2."""
        return self.config.state_size + 1

    def temperature(self) -> Tensor:
        """λ of relaxed boundaries, () in the dtype of the weights."""
        return temperature(self.steps_done, self.config.temperature_decay).to(self.dtype)

    def _infer(self, x: Tensor, noise: Tensor | None) -> BaselineTrace:
        eps = noise.permute(1, 2, 0, 3) if noise is not None else None  # (2, B, T, S + 1)
        eps_s, eps_z = (eps[0, ..., :-1], eps[1, ..., :-1]) if eps is not None else (None, None)
        odds = self.q_m(x)
        boundary, logit = draw_boundaries(
            odds, eps[1, ..., -1] if eps is not None else None, self.temperature()
        )
        m = boundary.unsqueeze(-1)  # (B, T, 1)
        q_z = self.q_z(self._past(x), self._rest(x, m))
        z, b = self._abstract(m, q_z.rsample(eps_z))
        h = self.f_h(torch.cat([b, z], -1))
        q_s = self.q_s(self._begun(x, m), h)
        s = q_s.rsample(eps_s)
        o = self._observed(m, h, s)
        g = self.f_g(torch.cat([o, s], -1))
        p_z, p_s = self.p_z(b), self.p_s(o)
        decided = boundary.detach() > 0.5
        cost = boundary * kl(q_z, p_z) + self._boundary_kl(odds, g, boundary, logit)
        levels = (
            BaselineLevel(s, q_s, p_s, kl(q_s, p_s), boundary_only(torch.ones_like(decided), g)),
            BaselineLevel(z, q_z, p_z, cost, boundary_only(decided, g)),
        )
        return BaselineTrace(g, levels, _last(z, b, s, o, decided))

    def _boundary_kl(
        self, odds: Tensor, g: Tensor, boundary: Tensor, logit: Tensor | None
    ) -> Tensor:  # (B, T), 0 at the first frame, whose boundary is given
        p = torch.cat([torch.zeros_like(odds[:, :1]), self.p_m(g[:, :-1]).squeeze(-1)], 1)
        max_segments = self.config.max_segments if self.training else None
        p = constrained(p, boundary, self.config.max_segment_length, max_segments)
        divergence = boundary_kl(odds, p, logit, self.temperature())
        return torch.cat([torch.zeros_like(divergence[:, :1]), divergence[:, 1:]], 1)

    def _past(self, x: Tensor) -> Tensor:
        """Of the frames before each frame: (B, T, D)."""
        after = self.past(x)[0]
        return torch.cat([torch.zeros_like(after[:, :1]), after[:, :-1]], 1)

    def _rest(self, x: Tensor, m: Tensor) -> Tensor:
        """Of the frames from each frame to the end of its segment: (B, T, D)."""
        state, found = torch.zeros_like(x[:, 0]), []
        for t in reversed(range(x.shape[1])):
            state = self.rest(x[:, t], state)
            found.append(state)
            state = state * (1 - m[:, t])  # frame t starts a segment: the one before ends
        return torch.stack(found[::-1], 1)

    def _begun(self, x: Tensor, m: Tensor) -> Tensor:
        """Of the frames from the start of its segment to each frame: (B, T, D)."""
        state, found = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            state = self.begun(x[:, t], state * (1 - m[:, t]))
            found.append(state)
        return torch.stack(found, 1)

    def _abstract(self, m: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
        """z (B, T, S) and b (B, T, D): at a boundary the drawn z and a new b, held elsewhere."""
        z, b = torch.zeros_like(drawn[:, 0]), drawn.new_zeros(len(drawn), self.config.width)
        found = []
        for t in range(drawn.shape[1]):
            m_t = m[:, t]
            b = m_t * self.next_b(z, b) + (1 - m_t) * b
            z = m_t * drawn[:, t] + (1 - m_t) * z
            found.append((z, b))
        zs, bs = zip(*found, strict=True)
        return torch.stack(zs, 1), torch.stack(bs, 1)

    def _observed(self, m: Tensor, h: Tensor, s: Tensor) -> Tensor:
        """o (B, T, D): h at a boundary, else GRU([s, h], o)."""
        o, found = torch.zeros_like(h[:, 0]), []
        for t in range(h.shape[1]):
            before = s[:, t - 1] if t else torch.zeros_like(s[:, 0])
            copied = self.next_o(torch.cat([before, h[:, t]], -1), o)
            o = m[:, t] * h[:, t] + (1 - m[:, t]) * copied
            found.append(o)
        return torch.stack(found, 1)

    @torch.no_grad()
    def rollout(
        self,
        state: VTAState,
        level: int,
        steps: int,
        *,
        samples: bool = False,
        generator: torch.Generator | None = None,
    ) -> BaselineRollout:
        """Predict `steps` frames (level 1) or segments, each by its first frame (level 2).

        States are the means of their priors and boundaries the more probable choice; with
        `samples`, all are drawn. No segment is longer than `max_segment_length`.
        """
        check_level(level, self.config)
        check_count("steps", steps)
        g, found = self.f_g(torch.cat([state.o, state.s], -1)), []
        for _ in range(steps):
            noise = step_noise(self, len(state.z), generator) if samples else None
            read = self._next_boundary(g, state, noise) | (level == 2)
            state = self._advance(state, read, noise)
            g = self.f_g(torch.cat([state.o, state.s], -1))
            found.append((g, torch.stack([torch.ones_like(read), read], -1)))
        c0, boundary = (torch.stack(each, 1) for each in zip(*found, strict=True))
        return BaselineRollout(self.reconstruct(c0), boundary, state)

    def _next_boundary(self, g: Tensor, state: VTAState, noise: Tensor | None) -> Tensor:
        odds: Tensor = self.p_m(g).squeeze(-1)
        if noise is not None:
            odds = odds + torch.logit(torch.special.ndtr(noise[1, :, -1]), eps=1e-6)
        return (odds > 0).logical_or(state.length >= self.config.max_segment_length)

    def _advance(self, state: VTAState, read: Tensor, noise: Tensor | None) -> VTAState:
        """One frame, from the priors."""
        eps_s, eps_z = (noise[0, :, :-1], noise[1, :, :-1]) if noise is not None else (None, None)
        new = read.unsqueeze(-1)
        b = torch.where(new, self.next_b(state.z, state.b), state.b)
        z = torch.where(new, self.p_z(b).rsample(eps_z), state.z)
        h = self.f_h(torch.cat([b, z], -1))
        o = torch.where(new, h, self.next_o(torch.cat([state.s, h], -1), state.o))
        s = self.p_s(o).rsample(eps_s)
        return VTAState(z, b, s, o, torch.where(read, 1, state.length + 1))


def _last(z: Tensor, b: Tensor, s: Tensor, o: Tensor, boundary: Tensor) -> VTAState:
    """The state after the last frame, without gradients."""
    length = boundary.flip(1).long().argmax(1) + 1  # since the last boundary, inclusive
    z, b, s, o = (value[:, -1].detach().clone() for value in (z, b, s, o))
    return VTAState(z, b, s, o, length)
