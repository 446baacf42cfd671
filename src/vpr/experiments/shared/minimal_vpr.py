"""The paper's minimal VPR: one level, a memoryless transition, and the observation as posterior.

q_st = q_ch = N(o_τ + c, 1)   c ~ N(0, noise²)
p_st = q at the last update
p_ch = N(f_θ(s_τ), 1)         s_τ: the mean of q at the last update

D_st = ½ (q − p_st)² and D_ch = ½ (q − p_ch)², of the means. All beliefs have the same standard
deviation, which cancels out of CE and CU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

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


class Detections(NamedTuple):
    """States and decisions at each frame, (B, T) each; no decision at the first frame."""

    state: Values  # s_τ, the mean of q at the last update before this frame
    expected: Marks  # CE
    unexpected: Marks  # CU, also if it is not used
    boundary: Marks  # the level updates


class Transition(nn.Module):
    """f_θ, the mean of p_ch(s_{τ+1} | s_τ); scales values from [0, `highest`] to [−1, 1]."""

    def __init__(self, hidden: int, highest: float) -> None:
        super().__init__()
        self.middle = highest / 2
        self.net = nn.Sequential(
            nn.Linear(1, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, s: Tensor) -> Tensor:  # (...) → (...)
        scaled = self.net((s / self.middle - 1).unsqueeze(-1)).squeeze(-1)
        return self.middle * (1 + scaled)  # type: ignore[no-any-return]


class MinimalVPR:
    """The boundary detector with its transition model."""

    def __init__(self, config: MinimalConfig, seed: int) -> None:
        self.config = config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.transition = Transition(config.hidden, config.highest)
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
            f = self.transition(torch.from_numpy(q)).numpy()  # (B, T)
        p_st, p_ch = q[:, 0], f[:, 0]  # (B,): every sequence starts with an update
        never = np.zeros(len(q), dtype=bool)
        frames = [Detections(p_st, never, never, never)]
        for t in range(1, q.shape[1]):
            d_st, d_ch = 0.5 * (q[:, t] - p_st) ** 2, 0.5 * (q[:, t] - p_ch) ** 2
            expected, unexpected = d_st > d_ch, d_st > self.config.gamma * window.mean()
            boundary = expected | unexpected if self.config.unexpected else expected
            window.push(d_st)
            frames.append(Detections(p_st, expected, unexpected, boundary))
            p_st, p_ch = np.where(boundary, q[:, t], p_st), np.where(boundary, f[:, t], p_ch)
        return Detections(*(np.stack(values, 1) for values in zip(*frames, strict=True)))

    def train_step(self, q: Values) -> Detections:
        """One step of Adam on the mean of D_ch over the updates, if there are any."""
        found = self.observe(q, self.window)
        if found.boundary.any():
            s, after = (torch.from_numpy(v[found.boundary]) for v in (found.state, q))  # (updates,)
            loss = 0.5 * (after - self.transition(s)).square().mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
        return found

    def detect(self, q: Values) -> Detections:
        """Detect without training; the window is filled with its mean in training."""
        initial = float(self.window.mean().mean()) if self.window.pushed else None
        return self.observe(q, Window(len(q), self.config.window, initial))
