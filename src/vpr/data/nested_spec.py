"""The specification of a nested world, drawn from its index alone, and the clocks in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DEVELOPMENT = range(0, 20)  # worlds to develop and tune a method on
EVALUATION = range(100, 120)  # worlds to report scores on

SEED = 7_301_954  # of all worlds
LEVELS = (2, 3, 4, 2, 3)  # number of factors of worlds 0 to 4, and again from 5 on
MEAN_LIMITS = ((4, 8), (12, 25), (40, 70))  # mean frames from change to change: factors 2, 3, 4
FASTEST = ("position", "shift", "lighting")
SLOW = ("lighting", "backdrop", "shape", "colour", "texture")
PHASES = {"shift": 16, "lighting": 8}  # states of the fastest factor, where it has them
VARIANTS = {"backdrop": 6, "shape": 6, "colour": 6, "texture": 7}  # number that the renderer has
PLAIN = 0  # the texture without a pattern

DURATIONS = ("fixed", "uniform", "geometric")
ORDERS = ("cyclic", "random")


@dataclass(frozen=True)
class Motion:
    """How the figure moves if its position is the fastest factor."""

    path: str  # "bounce" or "circle"
    speed: float  # pixels per frame, of a bouncing figure
    orbit: float  # pixels from the centre of the frame, of a circling one
    steps: int  # frames per circle; negative: clockwise


@dataclass(frozen=True)
class World:
    """The properties that all sequences of a world share."""

    factors: tuple[str, ...]  # names, fastest first
    clocks: tuple[Clock, ...]  # of all factors but the fastest
    nested: bool
    variants: dict[str, tuple[int, ...]]  # backdrop, shape, colour, texture → variants in use
    light: str  # of the factor lighting: "wave" as the fastest, else "levels" or "tints"
    light_values: int  # number of values of a slow lighting
    backdrop: str  # "colour" or "layout"
    radius: int  # of the figure, in pixels
    motion: Motion
    scroll: tuple[int, int]  # pixels (y, x) per frame, of the fastest factor shift
    noise: float  # standard deviation
    distractor: str  # "none", "jump" or "flicker"
    dot: int  # height and width of the distractor, in pixels
    hue: int  # of one part of a layout; the other part has the opposite hue

    def values(self, factor: str) -> int:
        """Number of values of a rendering; 1: always the same."""
        if factor == self.factors[0]:
            return PHASES[factor]
        if factor == "lighting":
            return self.light_values
        return len(self.variants[factor])

    def mean_frames(self) -> tuple[int, ...]:
        """Mean duration of each slow factor in frames."""
        means = [clock.mean for clock in self.clocks]
        return tuple(np.cumprod(means).tolist()) if self.nested else tuple(means)


@lru_cache(maxsize=256)
def draw_world(index: int) -> World:
    """The world of this index."""
    rng = np.random.default_rng([SEED, index])
    slow, nested = LEVELS[index % len(LEVELS)] - 1, index % 2 == 0
    fastest = str(rng.choice(FASTEST))
    others = [name for name in SLOW if name != fastest]
    factors = (fastest, *map(str, rng.permutation(others)[:slow]))
    radius = int(rng.integers(9, 15))
    wave = "wave" if fastest == "lighting" else str(rng.choice(["levels", "tints"]))
    return World(
        factors=factors,
        clocks=_clocks(slow, nested, rng),
        nested=nested,
        variants={name: _draw_variants(name, factors, rng) for name in VARIANTS},
        light=wave,
        light_values=int(rng.integers(3, 5)) if "lighting" in factors else 1,
        backdrop=str(rng.choice(["colour", "layout"])),
        radius=radius,
        motion=Motion(
            path=str(rng.choice(["bounce", "circle"])),
            speed=float(rng.uniform(3, 6)),
            orbit=float(rng.uniform(12, 30 - radius)),
            steps=int(rng.integers(10, 19) * rng.choice([-1, 1])),
        ),
        # Textures repeat every 16 pixels; no multiple of these steps leaves one unchanged.
        scroll=(int(rng.choice([-2, 2])), int(rng.choice([-3, -1, 1, 3]))),
        noise=float(rng.uniform(0, 0.03)),
        distractor=str(rng.choice(["none", "jump", "flicker"], p=[0.5, 0.25, 0.25])),
        dot=int(rng.integers(2, 4)),
        hue=int(rng.integers(VARIANTS["backdrop"])),
    )


def _draw_variants(
    name: str, factors: tuple[str, ...], rng: np.random.Generator
) -> tuple[int, ...]:
    """The variants in use: 3 to 6 of a factor, in the order of its cycle; else 1 or 3."""
    kinds = rng.permutation(VARIANTS[name])
    if name == "texture" and factors[0] == "shift":
        kinds = kinds[kinds != PLAIN]  # a shift of the plain texture is not visible
    used = rng.integers(3, 7) if name in factors else rng.choice([1, 3])
    return tuple(kinds[:used].tolist())


def _clocks(slow: int, nested: bool, rng: np.random.Generator) -> tuple[Clock, ...]:
    """One clock for each slow factor, in ticks."""
    means = _means(slow, nested, rng)
    if nested:
        means = [means[0], *(b // a for a, b in pairwise(means))]
    return tuple(Clock(m, str(rng.choice(DURATIONS)), str(rng.choice(ORDERS))) for m in means)


def _means(slow: int, nested: bool, rng: np.random.Generator) -> list[int]:
    """Mean durations in frames, within MEAN_LIMITS and 3 to 5 times the one before.

    In a nested world each is a multiple of the one before. Draws until all limits are met.
    """
    while True:
        means = [int(rng.integers(MEAN_LIMITS[0][0], MEAN_LIMITS[0][1] + 1))]
        while len(means) < slow:
            last = means[-1]
            longer = last * rng.integers(3, 6) if nested else rng.integers(3 * last, 5 * last + 1)
            means.append(int(longer))
        if all(low <= m <= high for m, (low, high) in zip(means, MEAN_LIMITS, strict=False)):
            return means


@dataclass(frozen=True)
class Clock:
    """How long a factor keeps a value, and which value comes next.

    `mean` is the mean duration in ticks. A tick is a frame, or a change of the next-faster
    factor. Durations are `fixed` (always `mean`), `uniform` (integers from `shortest` to
    `longest`) or `geometric` (a change at each tick with probability 1/mean). The order of the
    values is `cyclic` (the next value is the current one plus 1) or `random` (any other value).
    """

    mean: int
    durations: str
    order: str

    @property
    def shortest(self) -> int:
        """The shortest duration, in ticks."""
        return {"fixed": self.mean, "uniform": self.mean - self._half_range}.get(self.durations, 1)

    @property
    def longest(self) -> int | None:
        """The longest duration, in ticks; None if there is no limit."""
        return {"fixed": self.mean, "uniform": self.mean + self._half_range}.get(self.durations)

    @property
    def _half_range(self) -> int:
        return max(1, int(0.4 * self.mean))


def draw_changes(
    clock: Clock, count: int, ticks: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether the factor changes at each tick, (count, ticks).

    The process is stationary: the probability of a change is 1/mean at every tick.
    """
    if clock.longest is None:
        return rng.random((count, ticks)) < 1 / clock.mean
    possible = np.arange(clock.shortest, clock.longest + 1)
    # The duration that contains the first tick: longer ones are more likely to contain it.
    current = rng.choice(possible, size=count, p=possible / possible.sum())
    durations = rng.choice(possible, size=(count, ticks // clock.shortest + 1))
    durations[:, 0] = rng.integers(1, current + 1)  # the rest of it
    change = durations.cumsum(1) - 1  # the ticks of the changes
    row, column = np.nonzero(change < ticks)
    fired = np.zeros((count, ticks), dtype=bool)
    fired[row, change[row, column]] = True
    return fired


def factor_changes(
    clocks: tuple[Clock, ...], nested: bool, count: int, length: int, rng: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Where each slow factor changes, (count, length) each; never at the first frame.

    In a nested world the ticks of a clock are the changes of the clock before it; the ticks of
    the first clock, and of every clock of an independent world, are the frames.
    """
    ticking = np.ones((count, length), dtype=bool)
    ticking[:, 0] = False
    changes: list[NDArray[np.bool_]] = []
    for clock in clocks:
        fired = draw_changes(clock, count, length, rng)
        tick = np.maximum(ticking.cumsum(1) - 1, 0)  # number of the latest tick, from 0
        changed = ticking & np.take_along_axis(fired, tick, 1)
        changes.append(changed)
        if nested:
            ticking = changed
    return changes


def factor_values(
    clock: Clock, values: int, changed: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Values 0 to values − 1 of a factor with these changes, (count, length)."""
    start = rng.integers(values, size=(len(changed), 1))
    step = rng.integers(1, values, size=changed.shape) if clock.order == "random" else 1
    total: NDArray[np.int64] = start + (changed * step).cumsum(1)
    return total % values
