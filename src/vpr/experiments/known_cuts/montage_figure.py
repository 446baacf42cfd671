"""The figure of the montage: F1 of every detector, and boundaries in one minute of the film."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vpr.experiments.known_cuts.detectors import DETECTORS
from vpr.experiments.known_cuts.montage_film import RATE, Part
from vpr.experiments.runner.base import Result, Results
from vpr.experiments.shared.panels import draw_runs, score_axis
from vpr.experiments.shared.sheets import decode_image, encode_image
from vpr.utils.figures import D_ST, GREY, LEVEL_COLOURS, panels
from vpr.video import open_footage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MINUTE = 60  # seconds
SIDE = 48  # pixels of a picture, one per second
TOLERANCE = "0.2 s"  # of the points


def first_minute(part: Part, found: Mapping[str, Iterable[Fraction]]) -> dict[str, Any]:
    """One picture per second, the true cuts, and the boundaries of every detector."""
    frames = islice(open_footage(part.path), RATE // 2, MINUTE * RATE, RATE)
    pictures = [Image.fromarray(frame.picture).resize((SIDE, SIDE)) for frame in frames]
    row = np.concatenate([np.asarray(each) for each in pictures], 1)
    times = {"true cuts": part.cuts} | dict(found)
    return {
        "pictures": encode_image(row),
        "seconds": len(pictures),
        "times": {name: _until(each, len(pictures)) for name, each in times.items()},
    }


def _until(times: Iterable[Fraction], seconds: int) -> list[float]:
    return [float(time) for time in times if time < seconds]


def draw(results: Results) -> Figure:
    """Scores of all runs, and the first minute of the first run."""
    (runs,) = results.values()
    with panels(1, 2, width=14.0, height=3.6) as (figure, (above, below)):
        _draw_scores(above, runs)
        _draw_minute(below, runs[0].metrics["minute"])
    return figure


def _colours(names: Iterable[str]) -> list[str]:
    """A colour for each level; other detectors are grey."""
    levels = iter(LEVEL_COLOURS)
    return [GREY if name in DETECTORS else next(levels) for name in names]


def _draw_scores(axes: Axes, runs: list[Result]) -> None:
    names = list(runs[0].metrics["scores"])
    colours = _colours(names)
    draw_runs(axes, {_lines(name): _f1(runs, name, TOLERANCE) for name in names}, colours)
    axes.plot([], [], "o", color=GREY, label=f"within {TOLERANCE}, each run")
    for within, mark in (("0 s", "v"), ("1 s", "^")):
        means = [np.mean(_f1(runs, name, within)) for name in names]
        label = f"within {within}, mean"
        axes.scatter(np.arange(len(names)) + 0.3, means, s=40, c=colours, marker=mark, alpha=0.6)
        axes.plot([], [], mark, color=GREY, label=label)  # a grey entry of the legend
    score_axis(axes, "F1 of the cuts")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _lines(name: str) -> str:
    return DETECTORS.get(name, name).replace(", ", "\n")


def _f1(runs: list[Result], name: str, within: str) -> list[float]:
    return [run.metrics["scores"][name][within]["f1"] for run in runs]


def _draw_minute(axes: Axes, minute: dict[str, Any]) -> None:
    """A row of pictures, and below it a row of boundaries per detector."""
    row = decode_image(minute["pictures"])
    seconds, times = minute["seconds"], minute["times"]
    height = 1.6
    axes.imshow(row, extent=(0, seconds, 0, height), aspect="auto")
    rows = [-0.6 - line for line in range(len(times))]
    for name, y, colour in zip(times, rows, [D_ST, *_colours(list(times)[1:])], strict=True):
        axes.vlines(times[name], y - 0.36, y + 0.36, color=colour, linewidth=2.2)
    axes.set_ylim(rows[-1] - 0.6, height)
    axes.set_xlim(0, seconds)
    axes.set_yticks(rows, [DETECTORS.get(name, name) for name in times])
    axes.set_xlabel("seconds of the test part")
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
