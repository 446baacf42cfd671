"""Miniworld Maze: a walk through hallways with turns; the colour of the walls sometimes changes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch, OnProgress, change_points
from vpr.data.maze_walk import FRAME, WALLS, WIDTH, Plan, draw_plan, hallways_for, walk
from vpr.data.recording import (
    Layout,
    Records,
    random_windows,
    read_recording,
    record_type,
    write_recording,
)
from vpr.errors import VPRError
from vpr.utils.cache_folder import cache_folder
from vpr.utils.config_fields import option
from vpr.utils.config_json import to_dict

LABELS = {  # factors, those of levels 1, 2 and 3 first
    "position": np.dtype((np.float32, (3,))),
    "hallway": np.int32,
    "colour": np.int32,
    "turning": np.bool_,
}
HALLWAYS_PER_WORLD = 8  # rendered as one world; a complete maze would be slower
HALLWAYS_AHEAD = 3  # further hallways in each world; the third is never visible

MAX_FRAMES = 1_000_000  # 12 GB

VERSION = 1  # raise it when walks or pictures change

# (plan, positions) → frames
RenderFrames = Callable[[Plan, NDArray[np.float32]], NDArray[np.uint8]]
PIP_INSTALL = "pip install 'vpr-torch[maze]'"
APT_INSTALL = "apt install libegl1 libgl1 libglu1-mesa libfreetype6"


@dataclass(frozen=True)
class MiniworldMaze:
    """An agent walks through hallways at varying speed, with a noisy heading.

    Walks are rendered once with miniworld and stored in the user's cache; sequences are random
    windows of them. The walks for evaluation are never used for training.
    """

    name: ClassVar[str] = "maze"

    shortest: float = option(5.0, "Length of the shortest hallway, in metres; they are 2.5 wide.")
    longest: float = option(9.0, "Length of the longest hallway.")
    colours: int = option(6, "Number of wall colours, in a fixed order.")
    least_stay: int = option(2, "Minimum number of hallways of one colour.")
    most_stay: int = option(3, "Maximum number of hallways of one colour.")
    slowest: float = option(0.5, "Minimum speed, in metres per frame; each hallway has its own.")
    fastest: float = option(0.9, "Maximum speed.")
    heading_noise: float = option(3.0, "Noise of the heading, in degrees.")
    walks: int = option(16, "Walks recorded for training.")
    unseen_walks: int = option(4, "Walks recorded for evaluation.")
    frames: int = option(1000, "Frames of each walk.")
    held_out: bool = option(False, "Use the walks for evaluation.", flag=False)

    def __post_init__(self) -> None:
        rules = {
            f"{1.5 * WIDTH} ≤ shortest ≤ longest": 1.5 * WIDTH <= self.shortest <= self.longest,
            f"2 to {len(WALLS)} colours": 2 <= self.colours <= len(WALLS),
            "1 ≤ least_stay ≤ most_stay": 1 <= self.least_stay <= self.most_stay,
            f"0 < slowest ≤ fastest ≤ {WIDTH}": 0 < self.slowest <= self.fastest <= WIDTH,
            "a heading_noise from 0 to 15 degrees": 0 <= self.heading_noise <= 15,
            "1 or more walks, and unseen_walks": min(self.walks, self.unseen_walks) >= 1,
            "walks of 2 frames or more": self.frames >= 2,
            f"at most {MAX_FRAMES} frames in all": math.prod(self._layout().shape) <= MAX_FRAMES,
        }
        for rule, holds in rules.items():
            if not holds:
                raise VPRError(f"maze needs {rule}, got {self}")

    @property
    def frame(self) -> tuple[int, ...]:
        return FRAME

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` windows of `length` frames; records the walks first if necessary."""
        records = _recorded(replace(self, held_out=False), self._path())
        part = records[self.walks :] if self.held_out else records[: self.walks]
        frames, factors = random_windows(part, count, length, rng)
        return Batch(frames, factors, {name: change_points(v) for name, v in factors.items()})

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Record the walks, if necessary."""
        if read_recording(self._path(), self._layout()) is None:
            with open_renderer() as render_frames:
                walks = self._record_walks(render_frames, on_progress)
                write_recording(self._path(), self._layout(), walks)

    def max_length(self) -> int:
        """The largest possible number of frames in a sequence: the length of a walk."""
        return self.frames

    def unseen(self) -> MiniworldMaze:
        """The same maze with the walks for evaluation."""
        return replace(self, held_out=True)

    def _record_walks(
        self, render_frames: RenderFrames, on_progress: OnProgress | None
    ) -> Iterator[Records]:
        dtype, (takes, frames) = self._layout()
        for take in range(takes):
            records = np.zeros(frames, dtype)  # also zeroes the padding: equal walks, equal bytes
            self._record_walk(records, np.random.default_rng(take), render_frames)
            yield records
            if on_progress is not None:
                on_progress((take + 1) * frames, takes * frames)

    def _record_walk(
        self, records: Records, rng: np.random.Generator, render_frames: RenderFrames
    ) -> None:
        """Fill `records` with one walk through one maze."""
        frames = len(records)
        hallways = hallways_for(frames, self.fastest, self.shortest)
        lengths, stay = (self.shortest, self.longest), (self.least_stay, self.most_stay)
        plan = draw_plan(hallways, lengths, self.colours, stay, rng)
        speeds, noise = (self.slowest, self.fastest), math.radians(self.heading_noise)
        way = walk(plan, frames, speeds, noise, rng)
        records["position"], records["hallway"], records["turning"] = way
        records["colour"] = plan.colours[way.hallway]
        for first in range(0, int(way.hallway[-1]) + 1, HALLWAYS_PER_WORLD):
            inside = way.hallway // HALLWAYS_PER_WORLD == first // HALLWAYS_PER_WORLD
            world = plan.part(first - 1, first + HALLWAYS_PER_WORLD + HALLWAYS_AHEAD)
            records["frame"][inside] = render_frames(world, way.position[inside])

    def _layout(self) -> Layout:
        return Layout(record_type(FRAME, LABELS), (self.walks + self.unseen_walks, self.frames))

    def _path(self) -> Path:
        """The path of the recording, which depends on everything that affects it."""
        fields = to_dict(replace(self, held_out=False))
        key = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:8]
        return cache_folder() / f"maze-v{VERSION}-{key}.npy"


@cache
def _recorded(maze: MiniworldMaze, path: Path) -> Records:
    """The recording, opened once per process."""
    maze.prepare()
    records = read_recording(path, maze._layout())
    if records is None:
        raise VPRError(f"{path} cannot be read after writing it: try again")
    return records


@contextlib.contextmanager
def open_renderer() -> Iterator[RenderFrames]:
    """A context with the renderer of miniworld."""
    try:
        import pyglet

        if sys.platform == "linux":  # set before miniworld looks for a display
            pyglet.options["headless"] = True
        from vpr.data.maze_env import MazeEnv

        with contextlib.redirect_stdout(io.StringIO()):  # miniworld prints messages
            env = MazeEnv()
    except ModuleNotFoundError as error:
        raise VPRError(f"recording the maze needs miniworld: {PIP_INSTALL}") from error
    except Exception as error:  # missing libraries and drivers raise many kinds of errors
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VPRError(f"miniworld cannot draw here ({reason}): {APT_INSTALL}") from error
    try:
        yield env.render_frames
    finally:
        env.close()
