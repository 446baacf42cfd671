"""One style for all figures, and the few kinds of panel that they are made of."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.experiments.runner.base import Result
from vpr.pages import palette
from vpr.utils.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOTH, CE, CU, GREY = (
    colour.light for colour in (palette.BOTH, palette.CE, palette.CU, palette.CLOCK)
)
OTHERS = ("#cc79a7", "#e69f00", "#56b4e9")
STYLE: dict[Any, Any] = {
    "font.size": 13,
    "axes.titlesize": 13,
    "axes.labelsize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "lines.linewidth": 2.2,
    "legend.frameon": False,
    "legend.fontsize": 12,
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "svg.hashsalt": "vpr",  # the same picture is the same file
    "svg.fonttype": "none",
}


def require_matplotlib() -> None:
    """Better before hours of training than after."""
    if importlib.util.find_spec("matplotlib") is None:
        raise VPRError("figures need matplotlib: pip install 'vpr-torch[figures]'")


@contextmanager
def panels(
    columns: int, rows: int = 1, width: float = 4.6, height: float = 3.5
) -> Iterator[tuple[Figure, list[Axes]]]:
    """So many panels, row by row, in our style."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width * columns, height * rows))
        yield figure, list(np.ravel(figure.subplots(rows, columns)))


def write_figure(stem: Path, figure: Figure) -> list[Path]:
    """As PNG and as SVG; pictures of frames, which in an SVG weigh a megabyte, as PNG only."""
    import matplotlib

    paths = []
    kinds: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None}}
    if any(axes.images for axes in figure.axes):
        del kinds["svg"]
    for kind, notes in kinds.items():
        buffer = BytesIO()
        with matplotlib.rc_context(STYLE):
            figure.savefig(buffer, format=kind, metadata=notes)
        path = stem.with_name(f"{stem.name}.{kind}")
        write_bytes(path, buffer.getvalue())
        paths.append(path)
    return paths


def curve(result: Result, name: str) -> tuple[list[int], list[float]]:
    """(steps, values) of a result whose metrics hold a `curve`."""
    return result.metrics["curve"]["step"], result.metrics["curve"][name]


def draw_band(
    axes: Axes, curves: Sequence[tuple[Sequence[float], Sequence[float]]], colour: str, label: str
) -> None:
    """Mean over runs of (steps, values), shaded ± one standard deviation.

    Runs end at steps of their own: beyond its end a run counts with its last value. On a
    logarithmic axis, mean and deviation are those of the logarithm.
    """
    steps = np.unique(np.concatenate([np.asarray(x) for x, _ in curves]))
    values = np.stack([_extended(x, y, steps) for x, y in curves])
    into, back = (np.log, np.exp) if axes.get_yscale() == "log" else (np.array, np.array)
    mean, std = into(values).mean(0), spread(into(values))
    axes.plot(steps, back(mean), color=colour, label=label)
    low, high = back(mean - std), back(mean + std)
    axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)


def draw_runs(axes: Axes, groups: Mapping[str, Sequence[float]], colours: Sequence[str]) -> None:
    """Every run of each group as a point, beside their mean ± one standard deviation."""
    for place, (values, colour) in enumerate(zip(groups.values(), colours, strict=True)):
        runs = np.asarray(values)
        axes.plot(np.full(len(runs), place - 0.12), runs, "o", color=colour, alpha=0.6)
        at, mean = place + 0.12, runs.mean()
        axes.errorbar(at, mean, spread(runs), fmt="_", markersize=22, capsize=6, color=colour)
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.grid(visible=False, axis="x")


def draw_scores(axes: Axes, groups: Mapping[str, Sequence[float]], colours: Sequence[str]) -> None:
    """`draw_runs` on an axis that ends at 1 and begins where the worst run can be told from it."""
    draw_runs(axes, groups, colours)
    lowest = min(min(values) for values in groups.values())
    fitting = [start for start in (0.5, 0.8, 0.9, 0.95, 0.98) if lowest > start + 0.1 * (1 - start)]
    start = max(fitting, default=0.0)
    axes.set_ylim(start, 1 + 0.03 * (1 - start))


def unit(axes: Axes, name: str) -> None:
    """A vertical axis for scores and shares."""
    axes.set_ylim(-0.02, 1.03)
    axes.set_ylabel(name)


def spread(values: NDArray[Any]) -> NDArray[Any]:
    """Sample standard deviation over the first axis; 0 for a single run."""
    return np.asarray(values.std(0, ddof=1) if len(values) > 1 else np.zeros_like(values[0]))


def _extended(x: Sequence[float], y: Sequence[float], steps: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.interp(steps, np.asarray(x), np.asarray(y)))
