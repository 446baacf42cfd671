"""The paper's minimal VPR: one level, a memoryless transition, and the observation as posterior.

q_st = q_ch = N(o_τ + c, σ²)         c ~ N(0, noise²); σ is fixed
p_st = q at the last update
p_ch = N(μ_θ(s_τ), σ_θ(s_τ)²)        s_τ: the mean of q at the last update

D_st = D_KL(q_st ‖ p_st) = ½ (q − p_st)² / σ², of the means
D_ch = D_KL(q_ch ‖ p_ch) = ½ [σ²/σ_θ² + (q − μ_θ)²/σ_θ² − 1 − ln(σ²/σ_θ²)]

θ is trained to minimise D_ch at the updates. If the next value is random, σ_θ becomes wide enough
to cover the possible values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vpr.beliefs import Belief, kl
from vpr.data import Synthetic
from vpr.utils.config_fields import option

Values = NDArray[np.floating[Any]]
Marks = NDArray[np.bool_]
# Every value has one successor, so that a transition can be learned. With 20 values, jumps are
# short (2 values) or long (18); CU compares with the mean and can miss the short ones.
PREDICTABLE = Synthetic(values=20, order=1.0)


@dataclass(frozen=True)
class MinimalConfig:
    """Data, model and training of a minimal VPR."""

    data: Synthetic = PREDICTABLE
    apart: float = option(2.0, "Distance between neighbouring values of the signal.")
    std: float = option(2.0, "Standard deviation σ of q.")
    noise: float = option(0.0, "Standard deviation of c.")
    unexpected: bool = option(True, "Use CU in addition to CE.")
    gamma: float = option(1.1, "Threshold weight γ of CU.")
    window: int = option(100, "Window τ_w of CU.")
    hidden: int = option(64, "Units per hidden layer of the transition.")
    learning_rate: float = option(1e-2, "Learning rate of Adam.")
    batch_size: int = option(64, "Sequences per training step.")
    length: int = option(15, "Frames per training sequence.")
    steps: int = option(800, "Training steps.")
    look_every: int = option(40, "Training steps between points of a curve.")

    @property
    def highest(self) -> float:
        """The highest value of the signal; the lowest is 0."""
        return self.apart * (self.data.values - 1)


class Window:
    """The last τ_w values of D_st of each sequence: `vpr.events.Window` in NumPy.

    NumPy is ten times faster here, since each frame takes a dozen operations on a few numbers.
    """

    def __init__(self, rows: int, size: int, initial: float | None = None) -> None:
        """Filled with `initial`, or empty."""
        self.values = np.full((rows, size), initial or 0.0)  # (B, τ_w)
        self.pushed = 0 if initial is None else size

    def mean(self) -> Values:  # (B,)
        """Infinite if the window is empty, so that nothing is unexpected."""
        filled = min(self.pushed, self.values.shape[1])
        return self.values.sum(1) / filled if filled else np.full_like(self.values[:, 0], np.inf)

    def push(self, value: Values) -> None:  # (B,)
        self.values[:, self.pushed % self.values.shape[1]] = value
        self.pushed += 1


def divergence(
    q: Values, q_std: float | Values, p: Values, p_std: float | Values
) -> Values:  # (B,)
    """D_KL(N(q, q_std²) ‖ N(p, p_std²)): `vpr.beliefs.kl` in NumPy."""
    ratio = (q_std / p_std) ** 2
    return 0.5 * (ratio + ((q - p) / p_std) ** 2 - 1 - np.log(ratio))


class Detections(NamedTuple):
    """States and decisions at each frame, (B, T) each; no decision at the first frame."""

    state: Values  # s_τ, the mean of q at the last update before this frame
    expected: Marks  # CE
    unexpected: Marks  # CU, also if it is not used
    boundary: Marks  # the level updates


class Transition(nn.Module):
    """p_ch(s_{τ+1} | s_τ); scales values from [0, `highest`] to [−1, 1]. σ_θ starts near σ."""

    def __init__(self, config: MinimalConfig) -> None:
        super().__init__()
        self.middle, self.std = config.highest / 2, config.std
        self.net = nn.Sequential(
            nn.Linear(1, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, 2),
        )

    def forward(self, s: Tensor) -> Belief:  # (...) → Belief (..., 1)
        mean, raw = self.net((s / self.middle - 1).unsqueeze(-1)).chunk(2, -1)
        return Belief(self.middle * (1 + mean), self.std * raw.exp())


class MinimalVPR:
    """The boundary detector with its transition model."""

    def __init__(self, config: MinimalConfig, seed: int) -> None:
        self.config = config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.transition = Transition(config)
        self.adam = torch.optim.Adam(self.transition.parameters(), config.learning_rate)
        self.window = Window(config.batch_size, config.window)  # kept between batches

    def posterior(self, frames: NDArray[np.float32], rng: np.random.Generator) -> Values:
        """q = o + c, (B, T, 1) → (B, T)."""
        o = self.config.highest * frames[..., 0]
        return (o + self.config.noise * rng.standard_normal(o.shape)).astype(np.float32)

    def observe(self, q: Values, window: Window) -> Detections:
        """Detect the boundaries of q (B, T), frame by frame.

        The transition has no memory, so it is computed for all frames at once.
        """
        with torch.no_grad():
            predicted = self.transition(torch.from_numpy(q))
        mean, std = (part.squeeze(-1).numpy() for part in predicted)  # (B, T)
        # (B,): every sequence starts with an update.
        p_st, p_mean, p_std = q[:, 0], mean[:, 0], std[:, 0]
        never = np.zeros(len(q), dtype=bool)
        frames = [Detections(p_st, never, never, never)]
        for t in range(1, q.shape[1]):
            d_st = divergence(q[:, t], self.config.std, p_st, self.config.std)
            d_ch = divergence(q[:, t], self.config.std, p_mean, p_std)
            expected, unexpected = d_st > d_ch, d_st > self.config.gamma * window.mean()
            boundary = expected | unexpected if self.config.unexpected else expected
            window.push(d_st)
            frames.append(Detections(p_st, expected, unexpected, boundary))
            p_st, p_mean, p_std = (
                np.where(boundary, new[:, t], old)
                for new, old in ((q, p_st), (mean, p_mean), (std, p_std))
            )
        return Detections(*(np.stack(values, 1) for values in zip(*frames, strict=True)))

    def train_step(self, q: Values) -> Detections:
        """One step of Adam on the mean of D_ch over the updates, if there are any."""
        found = self.observe(q, self.window)
        if found.boundary.any():
            s, after = (torch.from_numpy(v[found.boundary]) for v in (found.state, q))  # (updates,)
            q_ch = after.unsqueeze(-1)  # (updates, 1)
            posterior = Belief(q_ch, torch.full_like(q_ch, self.config.std))
            loss = kl(posterior, self.transition(s)).mean()
            self.adam.zero_grad()
            torch.autograd.backward(loss)
            self.adam.step()
        return found

    def detect(self, q: Values) -> Detections:
        """Detect without training; the window is filled with its mean in training."""
        initial = float(self.window.mean().mean()) if self.window.pushed else None
        return self.observe(q, Window(len(q), self.config.window, initial))
