"""The paper's minimal VPR: one level, a memoryless transition, and the observation as posterior.

q_st = q_ch = N(o_τ + c, 1)   c ~ N(0, noise²)
p_st = q at the last update
p_ch = N(f_θ(s_τ), 1)         s_τ: the mean of q at the last update

D_st = ½ (q − p_st)² and D_ch = ½ (q − p_ch)², of the means. All beliefs have the same standard
deviation, so that it cancels out of CE and of CU alike: there is none to choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from vpr.data import Synthetic
from vpr.utils.options import option

Values = NDArray[np.floating[Any]]
Marks = NDArray[np.bool_]
# Chance leaves a transition nothing to learn. Of 20 levels, jumps are short (2 levels) or long
# (18), and CU, which asks for more than the mean, may pass over the short ones.
SUCCESSORS = Synthetic(values=20, order=1.0)


@dataclass(frozen=True)
class MinimalConfig:
    """A minimal VPR, its data and its training."""

    data: Synthetic = SUCCESSORS
    apart: float = option(2.0, "Distance from one level of the signal to the next.")
    noise: float = option(0.0, "Standard deviation of c.")
    unexpected: bool = option(True, "CU may update the level too; CE always may.")
    gamma: float = option(1.1, "CU's factor γ.")
    window: int = option(100, "τ_w, how many values of D_st CU remembers.")
    hidden: int = option(64, "Units in each of the transition's two hidden layers.")
    learning_rate: float = option(1e-2, "Of Adam.")
    batch_size: int = option(64, "Sequences in a training step.")
    length: int = option(15, "Frames of a training sequence.")
    steps: int = option(800, "Training steps.")
    look_every: int = option(40, "Training steps from one point of the curve to the next.")

    @property
    def top(self) -> float:
        """The signal goes from 0 to here."""
        return self.apart * (self.data.values - 1)


class Window:
    """The last τ_w values of D_st of each sequence, as `vpr.events.Window` but for NumPy.

    A frame takes a dozen operations on a few numbers, which in PyTorch cost ten times as much.
    """

    def __init__(self, rows: int, size: int, usual: float | None = None) -> None:
        """Full of `usual`, or empty."""
        self.values = np.full((rows, size), usual or 0.0)  # (B, τ_w)
        self.pushed = 0 if usual is None else size

    def mean(self) -> Values:  # (B,)
        """While it is empty nothing counts as unexpected."""
        filled = min(self.pushed, self.values.shape[1])
        return self.values.sum(1) / filled if filled else np.full_like(self.values[:, 0], np.inf)

    def push(self, value: Values) -> None:  # (B,)
        self.values[:, self.pushed % self.values.shape[1]] = value
        self.pushed += 1


class Seen(NamedTuple):
    """What the detector saw and did at each frame. All (B, T); at the first frame nothing."""

    state: Values  # s_τ, the mean of q at the last update before this frame
    expected: Marks  # CE
    unexpected: Marks  # CU, whether or not it may update
    boundary: Marks  # the level updates


class Transition(nn.Module):
    """f_θ, the mean of p_ch(s_{τ+1} | s_τ); values from 0 to `top` are −1 to 1 inside."""

    def __init__(self, hidden: int, top: float) -> None:
        super().__init__()
        self.middle = top / 2
        self.net = nn.Sequential(
            nn.Linear(1, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, s: Tensor) -> Tensor:  # (...) → (...)
        inside = self.net((s / self.middle - 1).unsqueeze(-1)).squeeze(-1)
        return self.middle * (1 + inside)  # type: ignore[no-any-return]


class Minimal:
    """The detector with its transition model."""

    def __init__(self, config: MinimalConfig, seed: int) -> None:
        self.config = config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.transition = Transition(config.hidden, config.top)
        self.adam = torch.optim.Adam(self.transition.parameters(), config.learning_rate)
        self.window = Window(config.batch_size, config.window)  # lives on from batch to batch

    def posterior(self, frames: NDArray[np.float32], rng: np.random.Generator) -> Values:
        """q = o + c, (B, T, 1) → (B, T)."""
        o = self.config.top * frames[..., 0]
        return (o + self.config.noise * rng.standard_normal(o.shape)).astype(np.float32)

    def observe(self, q: Values, window: Window) -> Seen:
        """Every frame of q (B, T): compare with p_st and p_ch, update where a criterion says so.

        The transition has no memory, so what it would predict from each frame is computed at once.
        """
        with torch.no_grad():
            f = self.transition(torch.from_numpy(q)).numpy()  # (B, T)
        p_st, p_ch = q[:, 0], f[:, 0]  # (B,): every sequence starts with an update
        nothing = np.zeros(len(q), dtype=bool)
        moments = [Seen(p_st, nothing, nothing, nothing)]
        for t in range(1, q.shape[1]):
            d_st, d_ch = 0.5 * (q[:, t] - p_st) ** 2, 0.5 * (q[:, t] - p_ch) ** 2
            expected, unexpected = d_st > d_ch, d_st > self.config.gamma * window.mean()
            boundary = expected | unexpected if self.config.unexpected else expected
            window.push(d_st)
            moments.append(Seen(p_st, expected, unexpected, boundary))
            p_st, p_ch = np.where(boundary, q[:, t], p_st), np.where(boundary, f[:, t], p_ch)
        return Seen(*(np.stack(values, 1) for values in zip(*moments, strict=True)))

    def learn(self, q: Values) -> Seen:
        """One step of Adam on the mean of D_ch over the updates; without an update, none."""
        seen = self.observe(q, self.window)
        if seen.boundary.any():
            s, after = (torch.from_numpy(v[seen.boundary]) for v in (seen.state, q))  # (updates,)
            loss = 0.5 * (after - self.transition(s)).square().mean()
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
        return seen

    def watch(self, q: Values) -> Seen:
        """Without learning; the window starts with what was usual in training, if anything was."""
        usual = float(self.window.mean().mean()) if self.window.pushed else None
        return self.observe(q, Window(len(q), self.config.window, usual))
