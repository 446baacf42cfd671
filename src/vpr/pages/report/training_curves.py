"""Curves of a training run: reconstruction, and KL and updates of each level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vpr.pages.sequence_curves import MARGIN, LogScale
from vpr.pages.sequence_view import CURVES, RULER
from vpr.pages.svg import drawing, tag

WIDTH, LEFT = 400, 44  # of a panel, and of the room for the numbers on its left
MAX_POINTS = 200  # per curve

Lines = NDArray[np.float64]  # (lines, points)


class Scale(Protocol):
    def y(self, value: float) -> float: ...

    def ticks(self) -> list[float]: ...


class Share(NamedTuple):
    """A linear scale from 0 to 1."""

    def y(self, value: float) -> float:
        return CURVES - MARGIN - value * (CURVES - 2 * MARGIN)

    def ticks(self) -> list[float]:
        return [0, 0.5, 1]


def training_curves(lines: list[dict[str, Any]]) -> str:
    last_kl = lines[-1].get("kl") if lines else None
    levels = len(last_kl) if isinstance(last_kl, list) else 0
    lines = [line for line in lines if _is_complete(line, levels)]
    if not lines:
        return (
            '<p class="quiet">There is no metrics.jsonl, the log of training, for this model.</p>'
        )
    steps = _thin(np.array([[line["step"] for line in lines]], float))[0]
    steps[[0, -1]] = lines[0]["step"], lines[-1]["step"]
    loss = _thin(np.array([[line["reconstruction"] for line in lines]], float))
    kl, rates = (
        _thin(np.array([line[key] for line in lines], float).T) for key in ("kl", "update_rate")
    )
    last = lines[-1]
    return (
        f'<p class="quiet">{last["step"]:,} of {last["steps"]:,} steps.</p><div class="panels">'
        + _panel("Reconstruction, nats per frame", steps, loss, LogScale.of(loss))
        + _panel("KL of each level, nats per frame", steps, kl, LogScale.of(kl))
        + _panel("Share of frames at which each level updates", steps, rates, Share())
        + "</div>"
    )


def _is_complete(line: dict[str, Any], levels: int) -> bool:
    """Whether a line has all values: the log may be damaged."""
    singles = [line.get(key) for key in ("steps", "reconstruction")]
    groups = [line.get(key) for key in ("kl", "update_rate")]
    if not all(isinstance(group, list) and len(group) == levels > 0 for group in groups):
        return False
    numbers = [*singles, *(value for group in groups for value in group)]  # type: ignore[union-attr]
    return all(type(n) in (int, float) and math.isfinite(n) for n in numbers)


def _thin(values: Lines) -> Lines:
    """Average neighbours until at most `MAX_POINTS` are left."""
    parts = np.array_split(values, min(MAX_POINTS, values.shape[1]), 1)
    return np.stack([part.mean(1) for part in parts], 1)


def _panel(title: str, steps: Lines, lines: Lines, scale: Scale) -> str:
    drawn = "".join(_line(steps, line, scale, _ramp(n, len(lines))) for n, line in enumerate(lines))
    picture = drawing(_grid(steps, scale) + drawn, WIDTH, CURVES + RULER, f"{title} over training")
    names = "".join(
        f'<span style="{_ramp(n, len(lines))}">level {n + 1}</span>' for n in range(len(lines))
    )
    key = f'<span class="ramp">{names}</span>' if len(lines) > 1 else ""
    return f'<figure class="panel"><figcaption><b>{title}</b>{key}</figcaption>{picture}</figure>'


def _ramp(n: int, levels: int) -> str:
    """The position of a level in the colour gradient of the levels."""
    return f"--k:{100 * (n + 1) / levels:.0f}%"


def _grid(steps: Lines, scale: Scale) -> str:
    rows = "".join(
        tag("line", x1=LEFT, x2=WIDTH, y1=scale.y(v), y2=scale.y(v), class_="grid")
        + tag("text", f"{v:g}", x=LEFT - 6, y=scale.y(v) + 4, class_="tick")
        for v in scale.ticks()
    )
    ends = ((LEFT, "start", steps[0]), (WIDTH, "end", steps[-1]))
    return rows + "".join(
        tag("text", f"step {step:,.0f}", x=x, y=CURVES + RULER - 6, text_anchor=anchor)
        for x, anchor, step in ends
    )


def _line(steps: Lines, values: Sequence[float] | Lines, scale: Scale, style: str) -> str:
    span = max(float(steps[-1] - steps[0]), 1.0)
    points = " ".join(
        f"{LEFT + (step - steps[0]) / span * (WIDTH - LEFT):.1f},{scale.y(value):.1f}"
        for step, value in zip(steps, values, strict=True)
        if np.isfinite(value)
    )
    return tag("polyline", points=points, class_="curve level", style=style)
