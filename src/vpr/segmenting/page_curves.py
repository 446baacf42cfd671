"""The curves of a level as a page carries them: logarithms in 16 bits, thinned if need be."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.demo.curves import LogScale
from vpr.segmenting.timeline import Curves, Timeline

VALUES = 600_000  # on one page: an hour at 25 frames a second, two levels, frame by frame
DECADES = 12  # that are told apart; a KL can be nearly 0
STEPS = 65535  # of 16 bits; 0 says that there is no value


def stride_of(timeline: Timeline) -> int:
    """Frames to a bin. A bin of several has two values, the least and the greatest."""
    values = 3 * timeline.frames * len(timeline.curves)
    return 1 if values <= VALUES else -(-2 * values // VALUES)


def packed_curves(curves: Curves, stride: int) -> dict[str, Any]:
    """`values` are (3, 1 or 2, bins) of D_st, D_ch and the threshold; least before greatest."""
    values = np.stack([np.asarray(curve, np.float32) for curve in curves])  # (3, T)
    scale = LogScale.of(values)
    known = np.where(np.isfinite(values), values, np.nan)
    logs = np.log10(np.maximum(known, 10.0 ** (scale.high - DECADES)))
    low = float(np.nanmin(logs)) if np.isfinite(logs).any() else scale.low
    share = (_binned(logs, stride) - low) / max(scale.high - low, 1e-9)
    steps = np.nan_to_num(1 + np.round(share * (STEPS - 1)), nan=0.0)
    return {
        "low": round(low, 6),
        "high": round(scale.high, 6),
        "floor": round(scale.low, 6),
        "ticks": scale.ticks(),
        "values": packed(steps.astype("<u2")),
    }


def packed_times(timeline: Timeline, stride: int) -> dict[str, Any]:
    """Knots, straight between them: two for a steady rate, otherwise one a bin and the end."""
    times, frames = timeline.times, timeline.frames
    steps = np.diff(times)
    last = float(np.median(steps)) if len(steps) else 1.0
    if frames > 1 and times[-1] > times[0]:
        last = last if last > 0 else float(times[-1] - times[0]) / (frames - 1)
        ends = np.append(times, times[-1] + last)
    else:  # one frame, or footage that has no times: a second a frame
        ends = np.arange(frames + 1, dtype=np.float64) + (times[0] if frames else 0.0)
    even = np.linspace(ends[0], ends[-1], frames + 1)
    if np.abs(ends - even).max() < 1e-3:  # finer than a screen shows
        stride = max(frames, 1)
    knots = np.append(ends[:-1:stride], ends[-1]) if frames else np.array([0.0, 1.0])
    start = float(knots[0])
    return {"stride": stride, "start": start, "knots": packed((knots - start).astype("<f4"))}


def packed(array: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _binned(values: NDArray[np.float64], stride: int) -> NDArray[np.float64]:
    """(3, T) → (3, 1, T), or (3, 2, bins); NaN only where a whole bin is."""
    if stride == 1:
        return values[:, None]
    room = -values.shape[1] % stride
    bins = np.pad(values, ((0, 0), (0, room)), constant_values=np.nan)
    bins = bins.reshape(3, -1, stride)
    binned: NDArray[np.float64] = np.stack(
        [np.fmin.reduce(bins, axis=2), np.fmax.reduce(bins, axis=2)], axis=1
    )
    return binned
