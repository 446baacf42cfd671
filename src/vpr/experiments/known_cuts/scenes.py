"""Scenes for a montage, out of our own generators.

In each world something moves at every frame and something changes every few: the ball its colour,
the room its wall, the walk its hallway. What else there is stays as long as the scene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from vpr.data import BouncingBalls, Dataset, MiniworldMaze, MovingBall, ThreeDShapesDynamic, unseen
from vpr.data.base import OnProgress
from vpr.data.pictures import as_images
from vpr.errors import VPRError

Rng = np.random.Generator
Draw = Callable[[Rng], Dataset]  # the world of one scene
Worlds = Mapping[str, Draw]

NEVER = 1_000_000  # frames from one hue to the next: longer than any scene
COLOURS_STAY = 1000  # hallways: longer than any walk


def ball(rng: Rng) -> MovingBall:
    return MovingBall(radius=float(rng.uniform(5, 9)), speed=float(rng.uniform(2.5, 6)))


def room(rng: Rng) -> ThreeDShapesDynamic:
    return ThreeDShapesDynamic(wall_period=int(rng.integers(4, 9)), object_period=NEVER)


def balls(rng: Rng) -> BouncingBalls:
    return BouncingBalls(balls=int(rng.integers(2, 4)))


def walks(many: int, few: int, frames: int) -> MiniworldMaze:
    """A maze whose walks have one colour each."""
    return MiniworldMaze(
        least_stay=COLOURS_STAY,
        most_stay=COLOURS_STAY,
        walks=many,
        unseen_walks=few,
        frames=frames,
    )


def available(maze: MiniworldMaze, watch: OnProgress | None = None) -> tuple[str, ...]:
    """The worlds that can be shown here: without a recorded maze, bouncing balls in its place."""
    try:
        maze.prepare(watch)
    except VPRError:  # neither a recording nor miniworld
        return ("ball", "3dsd", "balls")
    return ("ball", "3dsd", "maze")


def worlds(maze: MiniworldMaze, testing: bool) -> Worlds:
    """By name; what is shown of the maze for testing is never shown for training."""
    walked = unseen(maze) if testing else maze
    return {"ball": ball, "3dsd": room, "balls": balls, "maze": lambda rng: walked}


def scene(world: Draw, frames: int, rng: Rng) -> NDArray[np.uint8]:
    """(frames, H, W, 3)."""
    pictures: NDArray[np.uint8] = as_images(world(rng).batch(1, frames, rng).frames)[0]
    return pictures
