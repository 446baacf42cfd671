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
    rent: tuple[float, ...] = ()  # of each level, for all that its state holds; none: no rent
    recognition: float = 0.0  # of `vpr.recognition`: levels that find themselves in pictures
    foresight: float = 0.0  # of `vpr.foresight`: jumps that nobody corrects
    stale: float = 0.0  # share of updates, drawn by chance, at which q is given an old d
    painted: float = 1.0  # share of the frames, drawn by chance, that the reconstruction asks for
    power: float | None = None  # of the mean that tells what is usual, if not the rule's own
    held: int | None = None  # the level that updates at first frames only, as yet


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

    def sorting(self, levels: int) -> int:
        return 0  # all levels pay the same from the start


@dataclass(frozen=True)
class Staged:
    """Reconstruct first, then let the levels divide the work, by the curve and not by the clock.

    1. All β near 0, only CU and a little chance decide, until the reconstruction has settled. With
       `lift` above 1 a lower level pays more, and what is slow enough moves up from the start.

    With two levels:

    2. Level 1's β rises to 1 over `level_one_steps`.
    3. Level 2's β rises to 1 over `upper_steps`: what level 1 can hold it gets back. Then CE may
       decide too, and chance no more.
    4. It goes on to `upper` over `squeeze_steps` and stays there: copies of what level 1 holds
       leave it for good.

    With more, every level learns what is its own while the one below it pays:

    2. Until now `lift` made level 1 pay, so that level 2 took what lasts longer than a frame. Now β
       moves up: each level pays what the one below it paid, so that level 3 takes what lasts
       longer than an event of level 2; and so on, once for each level. β rises over
       `level_one_steps`, holds for the rest of `shift_steps`, and never exceeds `upper`. When the
       top level's β has reached 1, CE may decide too, and chance no more.
    3. Then all have `upper`. Level 1's β falls to 1 over `level_one_steps`; after that the β of
       the third and each further level goes on to `further` times that of the one below it, over
       `squeeze_steps`: of what no level can foresee, the first frame of a sequence, a level keeps
       no copy that the one below it can hold.

    What a level can foresee costs it no KL, so nothing keeps it from holding a copy of what the
    level above holds. `rent` does: each update of a level below the top pays for all that its state
    tells, foreseen or not, D_KL(q ‖ N(0, 1)), as β rises. So a feature is cheapest where updates
    are as rare as its changes. But what pays rent is blurred, and comes late: with `rent_fade` it
    is paid only while features are sorted.

    With `hold` the top level stays as it is to the end of each sequence until features are sorted,
    so that it learns what lasts; `sorting_power` is for a rule whose own mean is made for later.
    """

    name: ClassVar[str] = "staged"
    waits: ClassVar[bool] = True  # the learning rate decays, and the run ends, by the curve too

    low: float = option(2e-4, "β of the top level while the reconstruction settles.")
    lift: float = option(1.0, "Meanwhile, β of each level as a multiple of the next one's.")
    settle_window: int = option(100, "Steps in a block of the reconstruction's curve.")
    settle_tolerance: float = option(0.2, "A block makes progress when it gains this share.")
    settle_patience: int = option(2, "It settled after so many blocks without progress.")
    settle_after: int = option(600, "Blocks count from this step on.")
    level_one_steps: int = option(200, "Steps for the first β to rise after settling.")
    upper_steps: int = option(300, "Steps for the β of a level above to rise.")
    squeeze_steps: int = option(100, "Steps for the β of the levels above to rise to the last.")
    shift_steps: int = option(500, "With three levels or more, steps from one rise to the next.")
    upper: float = option(4.0, "Last β of level 2; level 1 has 1.")
    further: float = option(
        2.0, "Last β of a third level or a further one: so many times the last."
    )
    explore: float = option(0.1, "Chance of an update without a reason, until CE may decide.")
    reconstruction: float = option(1 / 16, "Weight of the reconstruction.")
    hold: bool = option(
        False, "While three levels or more are sorted, the top updates at first frames only."
    )
    sorting_power: float = option(0.0, "Meanwhile, in the place of model.power; 0: that one.")
    rent: float = option(
        0.0, "Price of what a state below the top holds, foreseen or not: a nat away from N(0, 1)."
    )

    rent_fade: int = option(
        0,
        "With it, rent is paid from settling on, and falls to nothing over so many steps once "
        "features are sorted; 0: from the first step to the last.",
    )

    def __post_init__(self) -> None:
        counted = (self.settle_window, self.settle_patience, self.shift_steps)
        if min(counted) < 1 or self.reconstruction <= 0:
            raise VPRError(
                "schedule needs settle_window, settle_patience and shift_steps ≥ 1 "
                "and reconstruction > 0"
            )
        if min(self.low, self.lift, self.upper, self.further) <= 0 or not 0 <= self.explore <= 1:
            raise VPRError(
                "schedule needs low, lift, upper and further above 0 and explore in [0, 1]"
            )
        if min(self.rent, self.rent_fade, self.sorting_power) < 0:
            raise VPRError("schedule needs a rent, rent_fade and sorting_power of 0 or more")

    def weights(self, step: int, levels: int, settled: int | None) -> Weights:
        since = None if settled is None else step - settled
        beta = self._beta(since, levels)
        decides = since is not None and self._top_pays(since, levels)
        return Weights(
            self.reconstruction,
            beta,
            expected=decides,
            explore=0.0 if decides else self.explore,
            rent=self._rents(since, beta) if self.rent else (),
            power=None if self._sorted(since, levels) else self.sorting_power or None,
            held=levels if self.hold and not self._sorted(since, levels) else None,
        )

    def _rents(self, since: int | None, beta: tuple[float, ...]) -> tuple[float, ...]:
        """In step with β, up to 1; the top level has nobody above it to copy from."""
        price = self.rent
        if self.rent_fade and since is None:
            price = 0.0
        elif self.rent_fade and since is not None:
            price = between(since - self.sorting(len(beta)), 0, self.rent_fade, price, 0.0)
        return (*(price * min(each, 1.0) for each in beta[:-1]), 0.0)

    def curve(self) -> Curve:
        """What tells `weights` when the reconstruction has settled."""
        return Curve(
            self.settle_window, self.settle_tolerance, self.settle_patience, self.settle_after
        )

    def sorting(self, levels: int) -> int:
        """Steps that it takes, after settling, until features have found their level.

        With two levels there is nothing to wait for.
        """
        return self.shift_steps * levels if levels > 2 else 0

    def _sorted(self, since: int | None, levels: int) -> bool:
        return levels <= 2 or (since is not None and since >= self.sorting(levels))

    def _beta(self, since: int | None, levels: int) -> tuple[float, ...]:
        """β of each level, so many steps after the curve settled."""
        if since is None:
            return self._shifted(0, levels)
        return self._in_shifts(since, levels) if levels > 2 else self._in_turn(since, levels)

    def _shifted(self, times: float, levels: int) -> tuple[float, ...]:
        """low · lift^(N − n + times) for level n."""
        powers = (n + times for n in reversed(range(levels)))
        return tuple(self.low * self.lift**power for power in powers)

    def _in_turn(self, since: int, levels: int) -> tuple[float, ...]:
        """Level 1's β rises, then that of level 2 if there is one."""
        low, risen = self._shifted(0, levels), self.level_one_steps + self.upper_steps
        one = between(since, 0, self.level_one_steps, low[0], 1.0)
        two = between(since, self.level_one_steps, risen, low[-1], 1.0)
        if since >= risen:
            two = between(since, risen, risen + self.squeeze_steps, 1.0, self.upper)
        return (one, two)[:levels]

    def _in_shifts(self, since: int, levels: int) -> tuple[float, ...]:
        """After as many shifts as there are levels all have `upper`, and then go apart again."""
        if since >= self.sorting(levels):
            return self._squeezed(since - self.sorting(levels), levels)
        done, rest = divmod(since, self.shift_steps)
        shifts = done + between(rest, 0, self.level_one_steps, 0.0, 1.0)
        return tuple(min(self.upper, each) for each in self._shifted(shifts, levels))

    def _squeezed(self, since: int, levels: int) -> tuple[float, ...]:
        fallen = self.level_one_steps
        one = between(since, 0, fallen, self.upper, 1.0)
        last = (self.upper * self.further**n for n in range(levels - 1))
        above = (between(since, fallen, fallen + self.squeeze_steps, self.upper, e) for e in last)
        return one, *above

    def _top_pays(self, since: int, levels: int) -> bool:
        """Has the β of the top level reached 1?"""
        if levels == 1:
            return since >= self.level_one_steps
        if levels == 2:
            return since >= self.level_one_steps + self.upper_steps
        return since >= self.sorting(levels) or self._in_shifts(since, levels)[-1] >= 1


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
