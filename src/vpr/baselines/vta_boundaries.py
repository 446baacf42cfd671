"""Boundaries of VTA: m_t = 1 (READ) starts a segment at frame t, m_t = 0 (COPY) continues it."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.special import log_ndtr

FORCED = 6.9  # log-odds of a boundary that the prior is certain of: ln(0.999 / 0.001)
FINAL_TEMPERATURE = 0.1


class BoundaryPosterior(nn.Module):
    """q(m_t | frames t − 4 to t + 4): three convolutions over time with batch normalisation.

    The edges of the video are replicated, so that every frame has a decision.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(3):
            layers += [_convolution(width, width), nn.BatchNorm1d(width), nn.ELU()]
        self.net = nn.Sequential(*layers, _convolution(width, 1))

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) → log-odds (B, T)
        return self.net(x.transpose(1, 2)).squeeze(1)  # type: ignore[no-any-return]


class Drawn(NamedTuple):
    """Boundaries of a video."""

    hard: Tensor  # (B, T) 0 or 1, with the gradient of the relaxed sample
    logit: Tensor | None  # (B, T) the relaxed sample before the sigmoid; None without noise


def draw_boundaries(q: Tensor, noise: Tensor | None, temperature: Tensor) -> Drawn:
    """Straight-through samples of Bernoulli variables with log-odds q (B, T).

    The relaxed sample is σ(l) with l = (q + L) / λ, L from the logistic distribution; for two
    classes this is the Gumbel softmax. `noise` (B, T) is Gaussian: L = ln Φ(ε) − ln Φ(−ε). Without
    noise, the more probable choice. The first frame always starts a segment.
    """
    if noise is None:
        return Drawn(_opened((q > 0).to(q)), None)
    logit = (q + log_ndtr(noise) - log_ndtr(-noise)) / temperature
    soft = logit.sigmoid()
    hard = (logit > 0).to(soft) + soft - soft.detach()
    return Drawn(_opened(hard), logit)


def boundary_kl(q: Tensor, p: Tensor, logit: Tensor | None, temperature: Tensor) -> Tensor:
    """ln q(l) − ln p(l) of relaxed samples l, all (B, T); without samples, the KL of the choices.

    The density of l is ln λ + a − 2·softplus(a), a = log-odds − λ·l.
    """
    if logit is None:
        return q.sigmoid() * (q - p) + F.softplus(p) - F.softplus(q)
    return _log_density(q, logit, temperature) - _log_density(p, logit, temperature)


def constrained(
    p: Tensor, boundary: Tensor, max_segment_length: int, max_segments: int | None
) -> Tensor:
    """The prior's log-odds p (B, T) of a boundary at each frame, with limits on segments.

    `boundary` (B, T) are the boundaries before and at each frame. A segment of `max_segment_length`
    frames should end. After `max_segments` segments no other should begin; this limit has priority.
    """
    before = boundary.detach().round().long()
    count = F.pad(before.cumsum(1)[:, :-1], (1, 0))  # (B, T) segments before each frame
    p = torch.where(lengths(before) >= max_segment_length, FORCED, p)
    return p if max_segments is None else torch.where(count >= max_segments, -FORCED, p)


def lengths(boundary: Tensor) -> Tensor:
    """(B, T) → how many frames the segment before each frame has, up to that frame."""
    time = torch.arange(boundary.shape[1], device=boundary.device).expand_as(boundary)
    start = torch.where(boundary > 0, time, 0).cummax(1).values  # of the segment of each frame
    return F.pad((time - start + 1)[:, :-1], (1, 0))


def temperature(steps: Tensor, decay: float) -> Tensor:
    """λ = 0.1 + 0.9·decay^steps."""
    return FINAL_TEMPERATURE + (1 - FINAL_TEMPERATURE) * decay ** steps.double()


def _convolution(inputs: int, outputs: int) -> nn.Conv1d:
    return nn.Conv1d(inputs, outputs, 3, padding=1, padding_mode="replicate")


def _opened(boundary: Tensor) -> Tensor:
    """With a boundary at the first frame."""
    return torch.cat([torch.ones_like(boundary[:, :1]), boundary[:, 1:]], 1)


def _log_density(odds: Tensor, logit: Tensor, temperature: Tensor) -> Tensor:
    """Without ln λ, which cancels in the difference."""
    a = odds - temperature * logit
    return a - 2 * F.softplus(a)
