"""Opens the miniworld renderer, an optional dependency that is needed to record mazes."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vpr.data.maze_walk import Plan
from vpr.errors import VPRError

# (plan, positions) → frames
RenderFrames = Callable[[Plan, NDArray[np.float32]], NDArray[np.uint8]]

EXTRA = "pip install 'vpr-torch[maze]'"
LIBRARIES = "apt install libegl1 libgl1 libglu1-mesa libfreetype6"


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
        raise VPRError(f"recording the maze needs miniworld: {EXTRA}") from error
    except Exception as error:  # missing libraries and drivers raise many kinds of errors
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VPRError(f"miniworld cannot draw here ({reason}): {LIBRARIES}") from error
    try:
        yield env.render_frames
    finally:
        env.close()
