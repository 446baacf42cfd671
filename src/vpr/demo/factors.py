"""Which factors the page tells at every frame, which once for a sequence, and which not at all."""

from __future__ import annotations

from vpr.demo.run import Demo


def moving(demo: Demo) -> list[str]:
    """Those that change, and those that a level should follow even where they never do."""
    followed = {level.factor for level in demo.clips[0].levels}
    return [name for name in _readable(demo) if name in followed or _changes(demo, name)]


def still(demo: Demo) -> list[str]:
    """Those that stay as they are in every sequence, though sequences may differ."""
    return [name for name in _readable(demo) if name not in moving(demo)]


def _readable(demo: Demo) -> list[str]:
    """A position is better seen than read, and `colour-1` is told already as part of `colour`."""
    factors = demo.clips[0].factors
    return [
        name
        for name, values in factors.items()
        if (values.ndim == 1 or values.dtype.kind in "iu")
        and name.rpartition("-")[0] not in factors
    ]


def _changes(demo: Demo, name: str) -> bool:
    return any(clip.changes[name].any() for clip in demo.clips)
