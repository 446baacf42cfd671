"""A run is a tuple of stages: how β, the criteria and the extra loss terms change over time.

Stages are plain data: the run folder stores them and `vpr train --show` prints them. The stages of
the presets are `RECIPE` and `PAPER_STAGES` in `vpr.presets`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from vpr.errors import VPRError

CRITERIA = ("CE", "CU")


@dataclass(frozen=True)
class Stage:
    """A part of a run.

    The shares of a run's stages add up to 1. A stage can end before its share is over, when the
    frames are reconstructed well enough (`until_explained`); the later stages then divide all
    remaining steps in the ratio of their shares.
    """

    name: str
    share: float  # of training.steps
    until_explained: float = 1.0  # share of the frames' variation; 1: the stage never ends early
    beta: tuple[float, ...] = (1.0, 1.0)  # of level 1, at the first and at the last step
    beta_ratio: tuple[float, ...] = (1.0, 1.0)  # β of a level over that of the level below
    criteria: tuple[str, ...] = CRITERIA  # which of them may decide
    random_updates: float = 0.0  # probability of an update without a criterion, levels 2 to N
    decay: bool = False  # the learning rate falls, see `vpr.training.session.learning_rate`
    objectives: tuple[str, ...] = ()  # names in `vpr.training.objectives`

    def __post_init__(self) -> None:
        for name in ("beta", "beta_ratio", "criteria", "objectives"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 0 < self.share <= 1:
            raise VPRError(f"a stage's share must be above 0 and at most 1, got {self.share}")
        if not 0 < self.until_explained <= 1:
            raise VPRError(
                f"until_explained must be above 0 and at most 1, got {self.until_explained}"
            )
        if len(self.beta) != 2 or min(self.beta) < 0:
            raise VPRError(f"a stage's beta must be two numbers of 0 or more, got {self.beta}")
        if len(self.beta_ratio) != 2 or min(self.beta_ratio) <= 0:
            raise VPRError(f"beta_ratio must be two numbers above 0, got {self.beta_ratio}")
        if not set(self.criteria) <= set(CRITERIA):
            raise VPRError(f"a stage's criteria are CE and CU, got {', '.join(self.criteria)}")
        if not 0 <= self.random_updates <= 1:
            raise VPRError(f"random_updates must be between 0 and 1, got {self.random_updates}")

    def beta_at(self, progress: float, level: int = 1) -> float:
        """β of a level when this share of the stage is done."""
        ratio = _between(self.beta_ratio, progress)
        return _between(self.beta, progress) * ratio ** (level - 1)


def _between(ends: tuple[float, ...], progress: float) -> float:
    """Geometric interpolation, or linear if the first value is 0."""
    first, last = ends
    return last * progress if first == 0 else float(first * (last / first) ** progress)


class StageSchedule:
    """Which stage each step of a run belongs to."""

    def __init__(self, stages: Sequence[Stage], total: int) -> None:
        if not stages or not math.isclose(sum(stage.share for stage in stages), 1.0):
            raise VPRError("the shares of a run's stages must add up to 1")
        if stages[-1].until_explained < 1:
            raise VPRError("the last stage of a run cannot end early: until_explained must be 1")
        self.stages = tuple(stages)
        self.stage_ends = self._ends_of(self.stages, 0, total)  # the first step after each stage

    @staticmethod
    def _ends_of(stages: Sequence[Stage], start: int, end: int) -> list[int]:
        """Share the steps from `start` to `end` among these stages."""
        sums = list(accumulate(stage.share for stage in stages))
        return [start + round(each / sums[-1] * (end - start)) for each in sums]

    def end_stage(self, step: int) -> None:
        """End the stage of the step before `step`; the later ones share all remaining steps."""
        index = next(i for i, end in enumerate(self.stage_ends) if step <= end)
        later = self._ends_of(self.stages[index + 1 :], step, self.stage_ends[-1])
        self.stage_ends = [*self.stage_ends[:index], step, *later]

    def at(self, step: int) -> tuple[Stage, float]:
        """The stage of a step, counted from 0, and the share of the stage that is done."""
        start = 0
        for stage, end in zip(self.stages, self.stage_ends, strict=True):
            if step < end:
                return stage, (step - start) / (end - start)
            start = end
        return self.stages[-1], 1.0

    def decayed(self, step: int) -> float:
        """The share of the steps with a falling learning rate that are done."""
        start, done, falling = 0, 0, 0
        for stage, end in zip(self.stages, self.stage_ends, strict=True):
            if stage.decay:
                falling += end - start
                done += min(max(step - start, 0), end - start)
            start = end
        return done / falling if falling else 0.0
