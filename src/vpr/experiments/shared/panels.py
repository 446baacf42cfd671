"""The panels that several figures share: curves and scores over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vpr.experiments.runner.experiment import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curve(result: Result, name: str) -> tuple[list[int], list[float]]:
    """(steps, values) of a curve in the metrics of a result."""
    return result.metrics["curve"]["step"], result.metrics["curve"][name]


def draw_band(
    axes: Axes, curves: Sequence[tuple[Sequence[float], Sequence[float]]], colour: str, label: str
) -> None:
    """Mean over runs of (steps, values), with a band of ± one standard deviation.

    A run that ends earlier than others keeps its last value. On a logarithmic axis, mean and
    standard deviation are computed from logarithms.
    """
    steps = np.unique(np.concatenate([np.asarray(x) for x, _ in curves]))
    values = np.stack([np.interp(steps, x, y) for x, y in curves])
    into, back = (np.log, np.exp) if axes.get_yscale() == "log" else (np.array, np.array)
    mean, std = into(values).mean(0), sample_std(into(values))
    axes.plot(steps, back(mean), color=colour, label=label)
    low, high = back(mean - std), back(mean + std)
    axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)


def draw_curve(axes: Axes, runs: Sequence[Result], name: str, colour: str, label: str) -> None:
    """`draw_band` of a curve in the metrics of runs."""
    draw_band(axes, [curve(run, name) for run in runs], colour, label)


def draw_runs(axes: Axes, groups: Mapping[str, Sequence[float]], colours: Sequence[str]) -> None:
    """A point for every run of each group, and their mean ± one standard deviation."""
    for place, (values, colour) in enumerate(zip(groups.values(), colours, strict=True)):
        runs = np.asarray(values)
        axes.plot(np.full(len(runs), place - 0.12), runs, "o", color=colour, alpha=0.6)
        at, mean = place + 0.12, runs.mean()
        axes.errorbar(at, mean, sample_std(runs), fmt="_", markersize=22, capsize=6, color=colour)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(visible=False, axis="x")


def draw_scores(axes: Axes, groups: Mapping[str, Sequence[float]], colours: Sequence[str]) -> None:
    """`draw_runs` for scores, on an axis that ends at 1 and starts below the lowest score."""
    draw_runs(axes, groups, colours)
    lowest = min(min(values) for values in groups.values())
    starts = [start for start in (0.5, 0.8, 0.9, 0.95, 0.98) if lowest > start + 0.1 * (1 - start)]
    start = max(starts, default=0.0)
    axes.set_ylim(start, 1 + 0.03 * (1 - start))


def score_axis(axes: Axes, name: str) -> None:
    """Make the vertical axis one of scores or shares, from 0 to 1."""
    axes.set_ylim(-0.02, 1.03)
    axes.set_ylabel(name)


def sample_std(values: NDArray[Any]) -> NDArray[Any]:
    """Sample standard deviation over the first axis; 0 for a single run."""
    return np.asarray(values.std(0, ddof=1) if len(values) > 1 else np.zeros_like(values[0]))
