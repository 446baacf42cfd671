"""The montage drawn: F1 of everybody, and a minute of the film with what each found in it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from fractions import Fraction
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vpr.experiments.known_cuts.detectors import NAMES
from vpr.experiments.known_cuts.film import RATE, Part
from vpr.experiments.runner.base import Result, Results
from vpr.experiments.shared.levels import INKS
from vpr.experiments.shared.panels import CE, CU, GREY, OTHERS, draw_runs, panels, unit
from vpr.video import open_footage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MINUTE = 60  # seconds, of each a picture: the one in its middle
SIDE = 48  # pixels of such a picture
MIDDLE = "0.2 s"
RIVALS = {"content": CE, "adaptive": OTHERS[2], "ruptures": CU}


def minute(part: Part, found: Mapping[str, Iterable[Fraction]]) -> dict[str, Any]:
    """The first: a picture a second, the cuts, and what each found."""
    frames = islice(open_footage(part.path), RATE // 2, MINUTE * RATE, RATE)
    pictures = [Image.fromarray(frame.picture).resize((SIDE, SIDE)) for frame in frames]
    row = Image.fromarray(np.concatenate([np.asarray(each) for each in pictures], 1))
    buffer = BytesIO()
    row.save(buffer, "JPEG", quality=80)
    times = {"true cuts": part.cuts} | dict(found)
    return {
        "pictures": b64encode(buffer.getvalue()).decode(),
        "seconds": len(pictures),
        "times": {name: _before_the_end(each, len(pictures)) for name, each in times.items()},
    }


def _before_the_end(times: Iterable[Fraction], seconds: int) -> list[float]:
    return [float(time) for time in times if time < seconds]


def draw(results: Results) -> Figure:
    """Scores of all runs; the minute is that of the first."""
    (runs,) = results.values()
    with panels(1, 2, width=14.0, height=3.6) as (figure, (above, below)):
        _draw_scores(above, runs)
        _draw_minute(below, runs[0].metrics["minute"])
    return figure


def _inks(names: Iterable[str]) -> list[str]:
    levels = iter(INKS)
    return [RIVALS.get(name) or next(levels) for name in names]


def _draw_scores(axes: Axes, runs: list[Result]) -> None:
    names = list(runs[0].metrics["scores"])
    inks = _inks(names)
    draw_runs(axes, {_lines(name): _f1(runs, name, MIDDLE) for name in names}, inks)
    axes.plot([], [], "o", color=GREY, label=f"within {MIDDLE}, each run")
    for within, mark in (("0 s", "v"), ("1 s", "^")):
        means = [np.mean(_f1(runs, name, within)) for name in names]
        label = f"within {within}, mean"
        axes.scatter(np.arange(len(names)) + 0.3, means, s=40, c=inks, marker=mark, alpha=0.6)
        axes.plot([], [], mark, color=GREY, label=label)  # one entry, whatever the colours
    unit(axes, "F1 of the cuts")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _lines(name: str) -> str:
    return NAMES.get(name, name).replace(", ", "\n")


def _f1(runs: list[Result], name: str, within: str) -> list[float]:
    return [run.metrics["scores"][name][within]["f1"] for run in runs]


def _draw_minute(axes: Axes, told: dict[str, Any]) -> None:
    """A row of pictures, and under it one row of marks for everybody."""
    row = np.asarray(Image.open(BytesIO(b64decode(told["pictures"]))))
    seconds, times = told["seconds"], told["times"]
    height = 1.6
    axes.imshow(row, extent=(0, seconds, 0, height), aspect="auto")
    rows = [-0.6 - line for line in range(len(times))]
    for name, y, ink in zip(times, rows, [GREY, *_inks(list(times)[1:])], strict=True):
        axes.vlines(times[name], y - 0.36, y + 0.36, color=ink, linewidth=2.2)
    axes.set_ylim(rows[-1] - 0.6, height)
    axes.set_xlim(0, seconds)
    axes.set_yticks(rows, [NAMES.get(name, name) for name in times])
    axes.set_xlabel("seconds of the test part")
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
