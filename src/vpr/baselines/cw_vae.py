"""CW-VAE: Clockwork Variational Autoencoder (Saxena, Ba & Hafner, 2021).

Level n updates every `intervals[n − 1]` frames. Its update k has the context c_k = [s, d] of the
level above, 0 at the top, and the sum x_k of its encodings of the frames until its next update:

    d_k = GRU(f([s_{k−1}, c_k]), d_{k−1}),  s_k ~ p(s | d_k),  q(s_k | d_k, x_k)

Frames are decoded from [s, d] of level 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vpr.baselines.baseline_config import CWVAEConfig
from vpr.baselines.baseline_model import (
    Baseline,
    BaselineLevel,
    BaselineRollout,
    BaselineTrace,
    boundary_only,
    step_noise,
)
from vpr.beliefs import Belief, kl
from vpr.nets.dense import dense
from vpr.utils.checks import check_count, check_level
from vpr.utils.tree import tree_map

UNIT = 0.54  # softplus(0.54) = 1


class CWVAEState(NamedTuple):
    """After some frames; level 1 first."""

    s: tuple[Tensor, ...]  # (B, S) each
    d: tuple[Tensor, ...]  # (B, D) each
    time: int  # frames so far


class SoftplusHead(nn.Module):
    """Hidden layers with ReLU, then a diagonal Gaussian: σ = floor + softplus(· + 0.54)."""

    def __init__(self, inputs: int, width: int, hidden: int, state_size: int, floor: float) -> None:
        super().__init__()
        self.hidden = _relu_layers(inputs, *[width] * hidden)
        self.out, self.floor = dense(width, 2 * state_size), floor

    def forward(self, x: Tensor) -> Belief:  # (..., inputs) → Belief (..., S)
        mean, raw = self.out(self.hidden(x)).chunk(2, -1)
        return Belief(mean, self.floor + F.softplus(raw + UNIT))


class ClockLevel(nn.Module):
    """The networks of one level."""

    def __init__(self, config: CWVAEConfig, index: int) -> None:
        super().__init__()
        size, width, embedded = config.state_size, config.width, config.state_size + config.width
        self.size, self.width, self.interval = size, width, config.intervals[index]
        self.f_enc = _encoder(embedded, config.hidden, self.interval) if index else None
        above = embedded if index + 1 < config.levels else 0
        self.f_in = _relu_layers(size + above, width)
        self.gru = nn.GRUCell(width, width)
        self.p = SoftplusHead(width, width, 1, size, config.min_std)
        self.q = SoftplusHead(width + embedded, width, 2, size, config.min_std)

    def encode(self, x: Tensor) -> Tensor:
        """Sums over the frames of each update: (B, T, E) → (B, K, E)."""
        if self.f_enc is not None:
            x = self.f_enc(x)
        batch, length, size = x.shape
        x = F.pad(x, (0, 0, 0, -length % self.interval))
        return x.reshape(batch, -1, self.interval, size).sum(2)

    def transition(self, s: Tensor, d: Tensor, c: Tensor) -> Tensor:
        """d of the next update."""
        return self.gru(self.f_in(torch.cat([s, c], -1)), d)  # type: ignore[no-any-return]

    def unroll(
        self, x: Tensor, c: Tensor, noise: Tensor | None
    ) -> tuple[Tensor, Tensor, Belief]:  # (B, K, E), (B, K, C), (K, B, S) → s, d and q, (B, K, ·)
        s, d, found = x.new_zeros(len(x), self.size), x.new_zeros(len(x), self.width), []
        for k in range(x.shape[1]):
            d = self.transition(s, d, c[:, k])
            q = self.q(torch.cat([d, x[:, k]], -1))
            s = q.rsample(noise[k] if noise is not None else None)
            found.append((s, d, q))
        return tree_map(lambda *each: torch.stack(each, 1), *found)


class CWVAE(Baseline):
    """Clockwork Variational Autoencoder."""

    config: CWVAEConfig

    def __init__(self, config: CWVAEConfig) -> None:
        super().__init__(config, config.state_size + config.width)
        self.clocks = nn.ModuleList(ClockLevel(config, n) for n in range(config.levels))

    def levels(self) -> list[ClockLevel]:
        """Level 1 first."""
        return list(self.clocks)  # type: ignore[arg-type]

    def _infer(self, x: Tensor, noise: Tensor | None) -> BaselineTrace:
        frames = torch.arange(x.shape[1], device=x.device)
        c, last, traces = x[..., :0], [], []  # c (B, T, C), none at the top
        for n, level in reversed(list(enumerate(self.levels()))):
            ticks, held = frames[:: level.interval], frames // level.interval
            eps = noise[ticks, n] if noise is not None else None
            s, d, q = level.unroll(level.encode(x), c[:, ticks], eps)
            p = level.p(d)
            last.append((s[:, -1].detach().clone(), d[:, -1].detach().clone()))
            s, d, q, p, divergence = tree_map(lambda v, i=held: v[:, i], (s, d, q, p, kl(q, p)))
            c = torch.cat([s, d], -1)
            boundary = (frames % level.interval == 0).expand(len(x), -1)
            cost = torch.where(boundary, divergence, 0.0)
            traces.append(BaselineLevel(s, q, p, cost, boundary_only(boundary, x)))
        s_last, d_last = zip(*reversed(last), strict=True)
        return BaselineTrace(c, tuple(traces[::-1]), CWVAEState(s_last, d_last, x.shape[1]))

    @torch.no_grad()
    def rollout(
        self,
        state: CWVAEState,
        level: int,
        steps: int,
        *,
        samples: bool = False,
        generator: torch.Generator | None = None,
    ) -> BaselineRollout:
        """Predict the next `steps` updates of a level, each by its first frame.

        The levels below and above update in between, at their own intervals. States are the means
        of their priors, or samples.
        """
        check_level(level, self.config)
        check_count("steps", steps)
        found: list[tuple[Tensor, Tensor]] = []
        while len(found) < steps:
            noise = step_noise(self, len(state.s[0]), generator) if samples else None
            due = self._due(state.time)
            state = self._advance(state, noise)
            if due[level - 1]:
                marks = torch.tensor(due, device=self.device).expand(len(state.s[0]), -1)
                found.append((torch.cat([state.s[0], state.d[0]], -1), marks))
        c0, boundary = (torch.stack(each, 1) for each in zip(*found, strict=True))
        return BaselineRollout(self.reconstruct(c0), boundary, state)

    def _due(self, time: int) -> list[bool]:
        return [time % interval == 0 for interval in self.config.intervals]

    def _advance(self, state: CWVAEState, noise: Tensor | None) -> CWVAEState:
        """One frame, from the priors."""
        s, d, due = list(state.s), list(state.d), self._due(state.time)
        for n, level in reversed(list(enumerate(self.levels()))):
            if due[n]:
                top = n + 1 == len(s)
                c = s[n][:, :0] if top else torch.cat([s[n + 1], d[n + 1]], -1)
                d[n] = level.transition(s[n], d[n], c)
                s[n] = level.p(d[n]).rsample(noise[n] if noise is not None else None)
        return CWVAEState(tuple(s), tuple(d), state.time + 1)


def _encoder(size: int, hidden: int, interval: int) -> nn.Sequential:
    """From an encoded frame to what an upper level sums; the sums start at the scale of a frame."""
    return nn.Sequential(_relu_layers(size, hidden, hidden), dense(hidden, size, 1 / interval))


def _relu_layers(*sizes: int) -> nn.Sequential:
    """Dense layers, each followed by ReLU."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [dense(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers)
