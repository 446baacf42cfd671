"""Rules that decide when a level updates: criteria CE and CU, fixed clocks, random updates.

CE  expected    D_KL(q_st ‖ p_st) > D_KL(q_ch ‖ p_ch)
CU  unexpected  D_st > γ · mean of the last τ_w values of D_st

`Evidence` holds the compared values as tensors, `LevelEvidence` and `Boundary` as plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from vpr.errors import VPRError
from vpr.utils.tree import shapes_in_repr

Kind = Literal["expected", "unexpected", "both", "clock"]


@shapes_in_repr
class Window(NamedTuple):
    """The last τ_w values of D_st at one level, for each sequence: a ring buffer.

    The paper divides a sum of τ_w + 1 terms by τ_w; this is the mean of the last τ_w values. A
    window that is not full yet averages the values it has. If it is empty, the mean is infinite,
    so that no event is unexpected.
    """

    values: Tensor  # (B, τ_w)
    pushed: Tensor  # (B,) how many values were ever pushed

    @classmethod
    def filled(cls, batch: int, size: int, typical_kl: Tensor) -> Window:
        """Full of `typical_kl` (), or empty where that is NaN."""
        count = torch.where(typical_kl.isnan(), 0, size).expand(batch)
        return cls(typical_kl.nan_to_num(0.0).expand(batch, size).clone(), count.clone())

    def mean(self) -> Tensor:  # (B,)
        """Infinite where the window is empty."""
        filled = self.pushed.clamp(max=self.values.shape[1]).to(self.values)
        return torch.where(filled > 0, self.values.sum(1) / filled, torch.inf)

    def push(self, value: Tensor, rows: Tensor) -> Window:  # (R,), (R,)
        """`value` for the sequences `rows`; the others stay as they are."""
        place = self.pushed.index_select(0, rows) % self.values.shape[1]
        values = self.values.index_put((rows, place), value.to(self.values))
        return Window(values, self.pushed.index_add(0, rows, torch.ones_like(rows)))

    def after_each(self, values: Tensor) -> Window:  # (R,)
        """Of a window of one sequence: row r (of R + 1) is the window after r of the values."""
        size = self.values.shape[1]
        count = torch.arange(len(values) + 1, device=values.device).unsqueeze(1)
        place = torch.arange(size, device=values.device)
        # The last value that was written to each place; negative if none was.
        latest = count - 1 - (self.pushed + count - 1 - place) % size  # (R + 1, τ_w)
        written = values.to(self.values)[latest.clamp(min=0)]
        return Window(torch.where(latest < 0, self.values, written), self.pushed + count.squeeze(1))


@shapes_in_repr
class Evidence(NamedTuple):
    """What a level compared at one frame. NaN where the signal did not reach the level."""

    kl_static: Tensor  # (B,) D_st = D_KL(q_st ‖ p_st): how far the belief moved
    kl_change: Tensor  # (B,) D_ch = D_KL(q_ch ‖ p_ch): how wrong the prediction was
    threshold: Tensor  # (B,) γ · mean(D_st), what CU compares with
    expected: Tensor  # (B,) CE
    unexpected: Tensor  # (B,) CU
    boundary: Tensor  # (B,) the level updates

    @classmethod
    def not_compared(cls, boundary: Tensor, unknown: Tensor) -> Evidence:
        """Evidence without a comparison: `boundary` is the decision, all values are `unknown`."""
        neither = torch.zeros_like(boundary)
        return cls(unknown, unknown, unknown, neither, neither, boundary)

    def masked(self, arrives: Tensor, opening: Tensor) -> Evidence:
        """Keep only where the signal arrived. All levels update at a sequence's first frame."""
        return Evidence(
            self.kl_static.where(arrives, torch.nan),
            self.kl_change.where(arrives, torch.nan),
            self.threshold.where(arrives, torch.nan),
            self.expected & arrives,
            self.unexpected & arrives,
            (self.boundary & arrives) | opening,
        )


class Decision(NamedTuple):
    """The decision of a rule for each sequence, the criteria that held, and the threshold."""

    expected: Tensor  # (B,) CE
    unexpected: Tensor  # (B,) CU
    boundary: Tensor  # (B,)
    threshold: Tensor  # (B,)
    random: Tensor | None = None  # (B,) updates without a criterion, if the rule has any

    def evidence(self, kl_static: Tensor, kl_change: Tensor) -> Evidence:
        """Add the values that were compared."""
        expected, unexpected, boundary, threshold, _ = self
        return Evidence(kl_static, kl_change, threshold, expected, unexpected, boundary)


class Rule(Protocol):
    """Decides which sequences update a level, 2 or higher; level 1 always does.

    `vpr.config.make_rule` makes the rule that a configuration names. The random updates and the
    criteria of a training stage apply only to `Subjective`; other rules decide in the same way in
    every stage. The options --threshold and --sweep need `Subjective` with CU.
    """

    @property
    def window(self) -> int:
        """τ_w: how many values of D_st are remembered."""
        ...

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        """Decide from the frame's number (from 0), D_st, D_ch and the window's mean, all (B,).

        D_st and D_ch are NaN where the signal did not arrive; decisions there are ignored.
        """
        ...


@dataclass(frozen=True)
class Subjective:
    """The paper's rule: a level updates when its own beliefs indicate that its features changed."""

    expected: bool = True
    unexpected: bool = True
    gamma: float = 1.1
    window: int = 100

    def __post_init__(self) -> None:
        if self.window < 1 or self.gamma <= 0:
            raise VPRError(
                f"gamma must be positive and window 1 or more, got {self.gamma} and {self.window}"
            )

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        threshold = self.gamma * typical_kl
        never = torch.zeros_like(time, dtype=torch.bool)
        expected = kl_static > kl_change if self.expected else never
        unexpected = kl_static > threshold if self.unexpected else never
        return Decision(expected, unexpected, expected | unexpected, threshold)


@dataclass(frozen=True)
class Clockwork:
    """Level n updates every `intervals[n − 1]` frames, independent of the input (as in CW-VAE).

    A level updates only where the level below does, so each interval should be a multiple of the
    one before.
    """

    intervals: tuple[int, ...]
    window: int = 1

    def __post_init__(self) -> None:
        if any(interval < 1 for interval in self.intervals):
            raise VPRError(f"intervals must be 1 or more, got {self.intervals}")

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        return _by_clock(time % self.intervals[level - 1] == 0, typical_kl)


@dataclass(frozen=True)
class Always:
    """Every level updates at every frame."""

    window: int = 1

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        return _by_clock(torch.ones_like(time, dtype=torch.bool), typical_kl)


@dataclass(frozen=True)
class RandomUpdates:
    """Another rule, plus updates at random frames, for training.

    A level whose rule misses a change is not trained on the frames after it, so it never learns to
    represent the change. Random updates train it on such frames. The values of D_st that they cause
    at the level above are not pushed into its window: they are mostly near 0 and would lower the
    threshold of CU.
    """

    rule: Rule
    probability: float
    generator: torch.Generator

    @property
    def window(self) -> int:
        return self.rule.window

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        decision = self.rule.decide(level, time, kl_static, kl_change, typical_kl)
        random = self.draw(level, time) & ~decision.boundary
        return decision._replace(boundary=decision.boundary | random, random=random)

    def draw(self, level: int, time: Tensor) -> Tensor:  # (B,)
        drawn = torch.rand(time.shape, generator=self.generator) < self.probability
        return drawn.to(time.device)


def _by_clock(boundary: Tensor, typical_kl: Tensor) -> Decision:
    """A decision without criteria and threshold."""
    neither = torch.zeros_like(boundary)
    return Decision(neither, neither, boundary, torch.full_like(typical_kl, torch.nan))


class Boundary(NamedTuple):
    """An update of a level at a frame."""

    frame: int
    level: int  # 2 or higher: level 1 updates at every frame
    kind: Kind  # CE, CU, both, or a rule that uses neither
    kl_static: float  # D_st: how far the belief moved
    kl_change: float  # D_ch: the error of the predicted next event
    threshold: float  # of CU, for D_st


class LevelEvidence(NamedTuple):
    """The `Evidence` of one level at one frame of one sequence, in plain numbers."""

    kl_static: float
    kl_change: float
    threshold: float
    expected: bool
    unexpected: bool
    boundary: bool

    @classmethod
    def rows(cls, evidence: Evidence) -> list[LevelEvidence]:
        """One record per row (B,) of the tensors."""
        return [cls(*row) for row in zip(*(field.tolist() for field in evidence), strict=True)]


def boundaries(evidence: Sequence[LevelEvidence], frame: int) -> Iterator[Boundary]:
    """The boundaries at one frame, from the evidence of the levels, level 1 first."""
    for level, found in enumerate(evidence[1:], start=2):
        if not found.boundary:
            return  # nested: no level above can have updated
        kind = _kind(found.expected, found.unexpected)
        yield Boundary(frame, level, kind, found.kl_static, found.kl_change, found.threshold)


def _kind(expected: bool, unexpected: bool) -> Kind:
    if expected and unexpected:
        return "both"
    if expected or unexpected:
        return "expected" if expected else "unexpected"
    return "clock"
