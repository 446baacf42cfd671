"""Nested worlds: a family of procedurally generated films with factors at 2 to 4 timescales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch, change_points
from vpr.data.nested_render import SIZE, Scene, add_noise, render
from vpr.data.nested_spec import PHASES, Motion, World, draw_world, factor_changes, factor_values
from vpr.errors import VPRError
from vpr.utils.config_fields import option


@dataclass(frozen=True)
class NestedWorld:
    """World number `world`, which decides factors, clocks, pictures and noise.

    The random generator passed to `batch` decides when each factor changes and its values, and the
    constant values of everything that is not a factor of this world.
    """

    name: ClassVar[str] = "nested-world"

    world: int = option(0, "Index of the world: 0-19 for development, 100-119 for evaluation.")
    clean: bool = option(False, "Leave out the noise and the distractor.")

    def __post_init__(self) -> None:
        if self.world < 0:
            raise VPRError(f"nested-world needs a world of 0 or more, got {self.world}")

    @property
    def frame(self) -> tuple[int, ...]:
        return (3, SIZE, SIZE)

    @property
    def spec(self) -> World:
        """The specification of the world."""
        return draw_world(self.world)

    @property
    def levels(self) -> int:
        """Number of factors, 2 to 4: one for each level of a model."""
        return len(self.spec.factors)

    @property
    def counts(self) -> dict[str, int]:
        """Number of values of each discrete factor; `position` is not one."""
        return {name: self.spec.values(name) for name in self.spec.factors if name != "position"}

    @property
    def description(self) -> dict[str, Any]:
        """The world in words and numbers; durations are means in frames."""
        spec = self.spec
        slow = zip(spec.factors[1:], spec.mean_frames(), spec.clocks, strict=True)
        about = {
            name: f"{spec.values(name)} values, {clock.order}, {frames} frames, {clock.durations}"
            for name, frames, clock in slow
        }
        return {
            "world": self.world,
            "clocks": "nested" if spec.nested else "independent",
            "factors": {spec.factors[0]: f"{self._describe_fastest()}, every frame"} | about,
            "noise": round(spec.noise, 3),
            "distractor": spec.distractor,
        }

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` sequences of `length` frames; with the factors of `spec`, fastest first."""
        scene = self._constant_factors(count, length, rng)
        scene |= self._fastest_factor(count, length, rng) | self._slow_factors(count, length, rng)
        frames = render(self.world, scene)
        if not self.clean:
            add_noise(self.world, frames, rng)
        factors = {name: scene[name] for name in self.spec.factors}
        changes = {name: change_points(values) for name, values in factors.items()}
        return Batch(frames=frames, factors=factors, changes=changes)

    def _constant_factors(self, count: int, length: int, rng: np.random.Generator) -> Scene:
        """All inputs of the renderer, each constant within a sequence."""
        spec = self.spec
        still: Scene = {
            name: np.repeat(rng.integers(len(kinds), size=(count, 1)), length, 1)
            for name, kinds in spec.variants.items()
        }
        zero = np.zeros((count, length), dtype=np.int64)
        place = rng.integers(spec.radius, SIZE - spec.radius, size=(count, 1, 2))
        place = np.repeat(place, length, 1).astype(np.float32)
        return still | {"shift": zero, "lighting": zero, "position": place}

    def _fastest_factor(self, count: int, length: int, rng: np.random.Generator) -> Scene:
        """The fastest factor: a phase that advances by 1, or a place that moves."""
        name = self.spec.factors[0]
        if name == "position":
            move = _bounce if self.spec.motion.path == "bounce" else _circle
            return {name: move(self.spec.motion, self.spec.radius, count, length, rng)}
        phase = rng.integers(PHASES[name], size=(count, 1)) + np.arange(length)
        return {name: phase % PHASES[name]}

    def _slow_factors(self, count: int, length: int, rng: np.random.Generator) -> Scene:
        spec = self.spec
        changes = factor_changes(spec.clocks, spec.nested, count, length, rng)
        rows = zip(spec.factors[1:], spec.clocks, changes, strict=True)
        return {
            name: factor_values(clock, spec.values(name), changed, rng)
            for name, clock, changed in rows
        }

    def _describe_fastest(self) -> str:
        motion, name = self.spec.motion, self.spec.factors[0]
        if name == "position":
            circle = f"circle in {abs(motion.steps)} steps"
            return circle if motion.path == "circle" else f"bounce at {motion.speed:.1f} pixels"
        return f"cycle of {PHASES[name]} values"


def level_changes(batch: Batch) -> dict[int, NDArray[np.bool_]]:
    """The true events of levels 2, 3, …: level → (B, T).

    Level n has an event where factor n or any slower factor changes, because in VPR level n can
    update only where level n − 1 updates. In a nested world this is where factor n changes.
    """
    changes = list(batch.changes.values())
    return {
        level: np.logical_or.reduce(changes[level - 1 :]) for level in range(2, len(changes) + 1)
    }


def _bounce(
    motion: Motion, radius: int, count: int, length: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Centres (count, length, 2) of a figure that is reflected at the border of the frame."""
    limit = SIZE - 1 - 2 * radius
    # Between 20° and 70° to the axes, so that each coordinate changes by a pixel or more.
    angle = rng.uniform(np.pi / 9, 7 * np.pi / 18, count) + rng.integers(4, size=count) * np.pi / 2
    velocity = motion.speed * np.stack([np.sin(angle), np.cos(angle)], -1)
    start = rng.uniform(0, limit, (count, 2))
    straight = start[:, None] + velocity[:, None] * np.arange(length)[:, None]
    lap, within = np.divmod(straight, limit)  # each lap of an axis ends at a wall
    place: NDArray[np.float32] = np.where(lap % 2 == 0, within, limit - within).astype(np.float32)
    place = np.rint(radius + place)
    # Only a reflection in a corner can leave the position unchanged; then move by 1 pixel.
    row, before = np.nonzero((np.diff(place, axis=1) == 0).all(-1))
    place[row, before + 1, 1] += np.where(place[row, before, 1] < SIZE / 2, 1, -1)
    return place


def _circle(
    motion: Motion, radius: int, count: int, length: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Centres (count, length, 2) of a figure that circles the centre of the frame."""
    step = rng.integers(abs(motion.steps), size=(count, 1)) + np.arange(length)
    angle = 2 * np.pi * step / motion.steps
    place = (SIZE - 1) / 2 + motion.orbit * np.stack([np.sin(angle), np.cos(angle)], -1)
    return np.rint(place).astype(np.float32)
