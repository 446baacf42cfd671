"""Packs the curves of a level for the page: logarithms in 16 bits, downsampled if they are long."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.pages.sequence_curves import LogScale
from vpr.segmenting.timeline import Curves, Series, Timeline

MAX_VALUES = 600_000  # on one page: an hour at 25 frames per second, two levels, frame by frame
DECADES = 12  # of dynamic range; a KL can be nearly 0
MAX_STEP = 65535  # of 16 bits; 0 means no value


def curve_stride(timeline: Timeline) -> int:
    """Frames per bin. A bin of several frames stores its minimum and maximum."""
    values = 3 * timeline.frames * len(timeline.curves)
    return 1 if values <= MAX_VALUES else -(-2 * values // MAX_VALUES)


def packed_curves(curves: Curves, stride: int) -> dict[str, Any]:
    """`values` are (3, 1 or 2, bins) of D_st, D_ch and the threshold; minimum before maximum."""
    scale = LogScale.of(np.concatenate([_extremes(curve) for curve in curves]))
    logs = [_logs(curve, 10.0 ** (scale.high - DECADES)) for curve in curves]  # one by one, because
    lows = [float(np.nanmin(each)) for each in logs if np.isfinite(each).any()]  # they are large
    low = min(lows, default=scale.low)
    steps = np.stack([_steps(_binned(each, stride), low, scale.high) for each in logs])
    return {
        "low": round(low, 6),
        "high": round(scale.high, 6),
        "floor": round(scale.low, 6),
        "ticks": scale.ticks(),
        "values": packed(steps),
    }


def packed_times(timeline: Timeline, stride: int) -> dict[str, Any]:
    """Times to interpolate between: two for a constant rate, else one per bin and the end."""
    times, frames = timeline.times, timeline.frames
    last = float(np.median(np.diff(times))) if frames > 1 else 1.0
    if frames > 1 and times[-1] > times[0]:
        last = last if last > 0 else float(times[-1] - times[0]) / (frames - 1)
        ends = np.append(times, times[-1] + last)
    else:  # one frame, or footage without times: one second per frame
        ends = np.arange(frames + 1, dtype=np.float64) + (times[0] if frames else 0.0)
    off = np.linspace(ends[0], ends[-1], frames + 1)
    off -= ends
    if max(off.max(), -off.min()) < 1e-3:  # less than a pixel
        stride = max(frames, 1)
    knots = np.append(ends[:-1:stride], ends[-1]) if frames else np.array([0.0, 1.0])
    start = float(knots[0])
    return {"stride": stride, "start": start, "knots": packed((knots - start).astype("<f4"))}


def packed(array: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).data).decode()


def _extremes(curve: Series) -> Series:
    """The smallest and the largest value that has a logarithm, if any."""
    known = np.asarray(curve, np.float32)
    known = known[np.isfinite(known) & (known > 0)]
    return np.array([known.min(), known.max()]) if known.size else known


def _logs(curve: Series, least: float) -> Series:
    """NaN where a value is not finite."""
    values = np.asarray(curve, np.float32)
    logs: Series = np.log10(np.maximum(np.where(np.isfinite(values), values, np.nan), least))
    return logs


def _steps(logs: Series, low: float, high: float) -> NDArray[np.uint16]:
    share = (logs - low) / max(high - low, 1e-9)
    steps: Series = np.nan_to_num(1 + np.round(share * (MAX_STEP - 1)), nan=0.0)
    return steps.astype("<u2")


def _binned(values: Series, stride: int) -> Series:
    """(T,) → (1, T), or (2, bins); NaN only if a whole bin is NaN."""
    if stride == 1:
        return values[None]
    bins = np.pad(values, (0, -len(values) % stride), constant_values=np.nan).reshape(-1, stride)
    return np.stack([np.fmin.reduce(bins, axis=1), np.fmax.reduce(bins, axis=1)])
