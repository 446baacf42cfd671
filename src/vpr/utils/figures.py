"""The style of all figures: colours, fonts, panels, and files."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vpr.errors import VPRError
from vpr.pages import palette
from vpr.utils.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

D_ST, BOTH, CE, CU, GREY = (
    colour.light for colour in (palette.D_ST, palette.BOTH, palette.CE, palette.CU, palette.CLOCK)
)
D_CH, THRESHOLD = palette.D_CH.light, palette.THRESHOLD.light
OTHERS = palette.OTHERS
LEVEL_COLOURS = OTHERS[:3]
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
    "svg.hashsalt": "vpr",  # reproducible files
    "svg.fonttype": "none",
}


def require_matplotlib() -> None:
    """Raise `VPRError` if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise VPRError("figures need matplotlib: pip install 'vpr-torch[figures]'")


@contextmanager
def panels(
    columns: int, rows: int = 1, width: float = 4.6, height: float = 3.5
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure and its panels, row by row, in the common style."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width * columns, height * rows))
        yield figure, list(np.ravel(figure.subplots(rows, columns)))


def line_colours(count: int) -> list[str]:
    """Colours for many lines, from purple to yellow."""
    import matplotlib
    from matplotlib.colors import to_hex

    return [to_hex(each) for each in matplotlib.colormaps["viridis"](np.linspace(0, 0.95, count))]


def write_figure(stem: Path, figure: Figure) -> list[Path]:
    """Write PNG and SVG; PNG only if the figure has images, which make an SVG large."""
    import matplotlib

    paths = []
    formats: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None}}
    if any(axes.images for axes in figure.axes):
        del formats["svg"]
    for kind, metadata in formats.items():
        buffer = BytesIO()
        with matplotlib.rc_context(STYLE):
            figure.savefig(buffer, format=kind, metadata=metadata)
        path = stem.with_name(f"{stem.name}.{kind}")
        write_bytes(path, buffer.getvalue())
        paths.append(path)
    return paths
