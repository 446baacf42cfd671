"""A sequence of the demo as an animation: the video, and events and curves up to its frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.pictures import as_images, save_images
from vpr.events import Kind
from vpr.pages.palette import D_CH, D_ST, KINDS, THRESHOLD
from vpr.pages.sequence_data import Curve, LevelDecisions, SequenceData
from vpr.utils.figures import panels, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pixels = NDArray[np.uint8]  # (H, W, 3)
Artist = Any  # a line, points or an image that changes from frame to frame
Values = NDArray[np.floating[Any]]

PAUSE = 8  # frames for which the last one is shown
MILLISECONDS = 180  # of a frame
DPI = 80
WIDTH, ROW, ABOVE, BELOW = 11.5, 2.3, 0.6, 0.6  # inches
EVENTS: dict[Kind, tuple[str, str]] = {  # marker and label
    "expected": ("o", "event, CE"),
    "unexpected": ("s", "event, CU"),
    "both": ("D", "event, CE and CU"),
    "clock": ("|", "event, fixed interval"),
}


def write_animation(path: Path, clip: SequenceData, on_progress: Callable[[int], None]) -> None:
    """Write a GIF; `on_progress` receives the number of frames that are drawn."""
    require_matplotlib()
    shown = []
    for pixels in _frames(clip):
        shown.append(pixels)
        on_progress(len(shown))
    save_images(path, shown + shown[-1:] * PAUSE, MILLISECONDS)


def _frames(clip: SequenceData) -> Iterator[Pixels]:
    with _figure(clip) as (figure, video, rows):
        picture = video.imshow(as_images(clip.frames[None])[0, 0])
        parts = [_level(axes, clip, level) for axes, level in zip(rows, clip.levels, strict=True)]
        handles = {text: handle for handle, text in _legend(rows)}
        figure.legend(handles.values(), handles, loc="upper right", ncols=8, fontsize=11)
        for t, pixels in enumerate(as_images(clip.frames[None])[0]):
            picture.set_data(pixels)
            video.set_title(f"frame {t}")
            for artist, values in (pair for level in parts for pair in level):
                artist.set_data(np.arange(t + 1), values[: t + 1])
            yield _render(figure)


@contextmanager
def _figure(clip: SequenceData) -> Iterator[tuple[Figure, Axes, list[Axes]]]:
    """The video on the left, and a row for each level, the highest at the top."""
    count = len(clip.levels)
    height = BELOW + ABOVE + ROW * count
    with panels(1, width=WIDTH, height=height) as (figure, (whole,)):
        whole.remove()
        figure.set_layout_engine("none")  # the same layout for every frame
        figure.set_dpi(DPI)
        grid = figure.add_gridspec(count, 2, width_ratios=(1, 3.6), wspace=0.26, hspace=0.3)
        grid.update(left=0.01, right=0.985, bottom=BELOW / height, top=1 - ABOVE / height)
        video = figure.add_subplot(grid[:, 0])
        video.set_axis_off()
        rows = [figure.add_subplot(grid[count - 1 - n, 1]) for n in range(count)]
        rows[0].set_xlabel("frame")
        yield figure, video, rows


def _level(axes: Axes, clip: SequenceData, level: LevelDecisions) -> list[tuple[Artist, Values]]:
    """Prepare a row. Returns what grows with time, as artists with their values (T,) or more."""
    length = len(clip.frames)
    axes.set_xlim(-0.5, length - 0.5)
    axes.set_yscale("log")
    axes.set_ylim(*_limits(level))
    axes.set_ylabel(f"level {level.level}: {level.factor or 'nats'}")
    axes.grid(visible=False)
    above = axes.get_xaxis_transform()
    parts: list[tuple[Artist, Values]] = []
    for kind, colour in KINDS.items():
        marks = np.full(length, np.nan)
        marks[[event.frame for event in level.boundaries if event.kind == kind]] = 0.93
        if not np.isnan(marks).all():
            marker, label = EVENTS[kind]
            style: dict[str, Any] = {"color": colour.light, "marker": marker, "ls": "", "ms": 7}
            parts.append((axes.plot([], [], label=label, transform=above, **style)[0], marks))
    if level.factor:
        true = np.full(length, np.nan)
        true[list(level.changes)] = 0.0
        style = {"color": D_ST.light, "marker": 6, "ls": "", "ms": 9, "clip_on": False}
        parts.append((axes.plot([], [], label="true change", transform=above, **style)[0], true))
    curves = {
        "D_st": (level.kl_static, D_ST, "-"),
        "D_ch": (level.kl_change, D_CH, "-"),
        "threshold": (level.threshold, THRESHOLD, "--"),
    }
    for name, (values, colour, line) in curves.items():
        style = {"color": colour.light, "ls": line, "lw": 1.6, "marker": ".", "ms": 4}
        parts.append((axes.plot([], [], label=name, **style)[0], values))
    return parts


def _limits(level: LevelDecisions) -> tuple[float, float]:
    """Five decades below the largest value at most, and room for the marks above it."""
    values: Curve = np.concatenate([level.kl_static, level.kl_change, level.threshold])
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return 0.1, 10.0
    high = float(values.max())
    return max(float(values.min()) / 2, high / 1e5), 8 * high


def _legend(rows: list[Axes]) -> Iterator[tuple[Artist, str]]:
    for axes in rows:
        yield from zip(*axes.get_legend_handles_labels(), strict=True)


def _render(figure: Figure) -> Pixels:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[..., :3].copy()
