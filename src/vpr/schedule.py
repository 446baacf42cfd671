"""How much each term of the loss weighs, and when CE may speak, over the course of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from vpr.errors import VPRError
from vpr.options import option


class Weights(NamedTuple):
    """What the loss of one step is made of."""

    reconstruction: float
    kl: tuple[float, ...]  # β of each level, level 1 first
    expected: bool = True  # may CE decide yet?
    explore: float = 0.0  # chance of an update without a reason


@dataclass(frozen=True)
class Linear:
    """The paper's schedule: every β rises from 0 to 1 together; both criteria from the start."""

    name: ClassVar[str] = "linear"
    waits: ClassVar[bool] = False

    kl_steps: int = option(3000, "Steps over which β rises from 0 to 1.")

    def weights(self, step: int, levels: int, settled: int | None) -> Weights:
        beta = between(step, 0, self.kl_steps, 0.0, 1.0)
        return Weights(1.0, (beta,) * levels)

    def curve(self) -> Curve:
        """Nothing here waits for it; the run's log still tells when it settled."""
        return Staged().curve()

    def turn(self, step: int, levels: int, settled: int) -> None:
        """All levels pay from the start."""

    def sorting(self, levels: int) -> int:
        return 0


@dataclass(frozen=True)
class Staged:
    """Reconstruct first, then let the levels divide the work, by the curve and not by the clock.

    1. All β near 0, only CU and a little chance decide, until the reconstruction has settled. With
       `lift` above 1 a lower level pays more, and what is slow enough moves up from the start.
    2. Level 1's β rises to 1 over `level_one_steps`.
    3. Each level between it and the top, from below: its β rises to `upper` over `upper_steps` and
       it pays alone for `sort_steps`, while all above are as good as free. What it can predict
       from one of its updates to the next stays; what changes at some of them only moves up.
    4. The top level's β rises to 1 over `upper_steps`: what a lower level can hold it gets back.
       Then CE may decide too, and chance no more.
    5. It goes on to `upper` over `squeeze_steps` and stays there: copies of what lower levels
       hold leave it for good. A third level, or a higher one, has `sort_steps` for that too.
    """

    name: ClassVar[str] = "staged"
    waits: ClassVar[bool] = True  # the learning rate decays, and the run ends, by the curve too

    low: float = option(2e-4, "β of the top level while the reconstruction settles.")
    lift: float = option(1.0, "Meanwhile, β of each level as a multiple of the next one's.")
    settle_window: int = option(100, "Steps in a block of the reconstruction's curve.")
    settle_tolerance: float = option(0.2, "A block makes progress when it gains this share.")
    settle_patience: int = option(2, "It settled after so many blocks without progress.")
    settle_after: int = option(600, "Blocks count from this step on.")
    level_one_steps: int = option(200, "Steps for level 1's β to reach 1.")
    upper_steps: int = option(300, "Steps for the β of a level above to rise.")
    sort_steps: int = option(900, "Of three or more levels, steps that each then has for itself.")
    free: float = option(0.02, "β of the levels above it meanwhile.")
    squeeze_steps: int = option(100, "Steps of the top level's β from 1 to its last value.")
    upper: float = option(4.0, "Last β of all levels but level 1, which has 1.")
    explore: float = option(0.1, "Chance of an update without a reason, until CE may decide.")
    reconstruction: float = option(1 / 16, "Weight of the reconstruction.")

    def __post_init__(self) -> None:
        if min(self.settle_window, self.settle_patience) < 1 or self.reconstruction <= 0:
            raise VPRError(
                "schedule needs settle_window ≥ 1, settle_patience ≥ 1 and reconstruction > 0"
            )
        if min(self.low, self.lift, self.free, self.upper) < 0 or not 0 <= self.explore <= 1:
            raise VPRError("schedule needs low, lift, free and upper ≥ 0 and explore in [0, 1]")

    def weights(self, step: int, levels: int, settled: int | None) -> Weights:
        since = -1 if settled is None else step - settled
        decides = since >= self._rise(levels - 1)[1]
        beta = (self._beta(since, n, levels) for n in range(levels))
        return Weights(
            self.reconstruction,
            tuple(beta),
            expected=decides,
            explore=0.0 if decides else self.explore,
        )

    def curve(self) -> Curve:
        """What tells `weights` when the reconstruction has settled."""
        return Curve(
            self.settle_window, self.settle_tolerance, self.settle_patience, self.settle_after
        )

    def turn(self, step: int, levels: int, settled: int) -> int | None:
        """Which level, 2 or higher, learns to pay at a step after settling; None: all have.

        With two levels there is nothing to wait for.
        """
        turn = 2 + (step - settled) // (self.upper_steps + self.sort_steps)
        return turn if levels > 2 and turn <= levels else None

    def sorting(self, levels: int) -> int:
        """Steps that the turns take."""
        turns = levels - 1 if levels > 2 else 0
        return turns * (self.upper_steps + self.sort_steps)

    def _rise(self, n: int) -> tuple[int, int]:
        """First and last step, since settling, of the rise of level n + 1."""
        if n == 0:
            return 0, self.level_one_steps
        start = self.level_one_steps + (n - 1) * (self.upper_steps + self.sort_steps)
        return start, start + self.upper_steps

    def _beta(self, since: int, n: int, levels: int) -> float:
        """β of level n + 1, so many steps after the curve settled."""
        low = self.low * self.lift ** (levels - 1 - n)
        if n > 1 and since >= 0:  # free, while those below it learn to pay
            low = between(since, *self._rise(1), low, self.free)
        start, end = self._rise(n)
        if n == 0 or since < end or n + 1 < levels:
            return between(since, start, end, low, self.upper if 0 < n < levels - 1 else 1.0)
        return between(since, end, end + self.squeeze_steps, 1.0, self.upper)


def between(step: float, start: float, end: float, low: float, high: float) -> float:
    """From `low` to `high` in a straight line over start…end, flat outside."""
    if end <= start:
        return high if step >= end else low
    share = min(max((step - start) / (end - start), 0.0), 1.0)
    return low + share * (high - low)


class Curve:
    """Watches the reconstruction and tells when it has settled.

    Means over blocks of `window` steps are compared with the best one before; it has settled
    when `patience` blocks in a row were less than `tolerance` better. A plateau on the way, such
    as balls that are still grey, is shorter than that; the first one, all black, may be longer,
    so nothing settles in the first `after` steps. Labels play no part.
    """

    def __init__(self, window: int, tolerance: float, patience: int, after: int) -> None:
        self.window, self.tolerance = window, tolerance
        self.patience, self.after = patience, after
        self.total, self.count = 0.0, 0
        self.best: float | None = None
        self.idle = 0  # blocks in a row without progress
        self.settled: int | None = None

    def push(self, step: int, reconstruction: float) -> None:
        if self.settled is not None:
            return
        self.total += reconstruction
        self.count += 1
        if self.count == self.window:
            self._close_block(step)

    def _close_block(self, step: int) -> None:
        mean = self.total / self.count
        self.total, self.count = 0.0, 0
        if self.best is None or mean < (1 - self.tolerance) * self.best:
            self.best, self.idle = mean, 0
            return
        self.idle += step >= self.after
        if self.idle == self.patience:
            self.settled = step + 1

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        kept = ("total", "count", "best", "idle", "settled")
        return {name: getattr(self, name) for name in kept}

    def restore(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
