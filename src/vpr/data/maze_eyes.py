"""The way to miniworld, which is an extra: needed to record mazes, and for nothing else."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vpr.data.maze_walk import Plan
from vpr.errors import VPRError

Look = Callable[[Plan, NDArray[np.float32]], NDArray[np.uint8]]  # what is seen from positions

EXTRA = "pip install 'vpr-torch[maze]'"
LIBRARIES = "apt install libegl1 libgl1 libglu1-mesa libfreetype6"


@contextlib.contextmanager
def open_eyes() -> Iterator[Look]:
    """Miniworld's renderer, for as long as it is needed."""
    try:
        import pyglet

        if sys.platform == "linux":  # no screen is needed; to be said before one is looked for
            pyglet.options["headless"] = True
        from vpr.data.maze_render import Eyes

        with contextlib.redirect_stdout(io.StringIO()):  # miniworld talks; that is for results
            eyes = Eyes()
    except ModuleNotFoundError as error:
        raise VPRError(f"recording the maze needs miniworld: {EXTRA}") from error
    except Exception as error:  # a missing library or driver has many ways to show
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise VPRError(f"miniworld cannot draw here ({reason}): {LIBRARIES}") from error
    try:
        yield eyes.look
    finally:
        eyes.close()
