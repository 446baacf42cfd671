"""Starts the renderer of miniworld, an optional dependency to record mazes."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vpr.data.maze_walk import Plan
from vpr.errors import VPRError

Look = Callable[[Plan, NDArray[np.float32]], NDArray[np.uint8]]  # (plan, positions) → frames

EXTRA = "pip install 'vpr-torch[maze]'"
LIBRARIES = "apt install libegl1 libgl1 libglu1-mesa libfreetype6"


@contextlib.contextmanager
def open_eyes() -> Iterator[Look]:
    """A context with the renderer of miniworld."""
    try:
        import pyglet

        if sys.platform == "linux":  # set before miniworld looks for a screen
            pyglet.options["headless"] = True
        from vpr.data.maze_render import Eyes

        with contextlib.redirect_stdout(io.StringIO()):  # miniworld prints messages
            eyes = Eyes()
    except ModuleNotFoundError as error:
        raise VPRError(f"recording the maze needs miniworld: {EXTRA}") from error
    except Exception as error:  # missing libraries and drivers raise many kinds of errors
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VPRError(f"miniworld cannot draw here ({reason}): {LIBRARIES}") from error
    try:
        yield eyes.look
    finally:
        eyes.close()
