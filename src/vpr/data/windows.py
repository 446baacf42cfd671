"""Training and held-out parts of recordings, and random windows of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.clips import Clip, memory_mapped
from vpr.errors import VPRError

Counts = NDArray[np.int64]
Fill = Callable[[NDArray[np.float32], NDArray[Any]], None]  # (window, frames of a clip)


class Span(NamedTuple):
    """Frames of a clip from `first` to `last` (exclusive)."""

    clip: Clip
    first: int
    last: int


def training_spans(clips: Sequence[Clip], held_out: float) -> list[Span]:
    """All frames that `held_out_spans` does not contain."""
    if _hold_out_clips(clips, held_out):
        return [Span(clip, 0, clip.frames) for clip in _training_clips(clips, held_out)]
    return [Span(clip, 0, _first_held_out(clip, held_out)) for clip in clips]


def held_out_spans(clips: Sequence[Clip], held_out: float) -> list[Span]:
    """The end of every clip; of many clips, complete clips at even intervals.

    The end of a short clip could be too short for a sequence.
    """
    if _hold_out_clips(clips, held_out):
        return [Span(clip, 0, clip.frames) for clip in _held_out_clips(clips, held_out)]
    return [Span(clip, _first_held_out(clip, held_out), clip.frames) for clip in clips]


def _hold_out_clips(clips: Sequence[Clip], held_out: float) -> bool:
    """Whether the held-out share is two or more clips."""
    return len(clips) * held_out >= 2


def _held_out_clips(clips: Sequence[Clip], held_out: float) -> list[Clip]:
    return [clip for n, clip in enumerate(clips) if int((n + 1) * held_out) > int(n * held_out)]


def _training_clips(clips: Sequence[Clip], held_out: float) -> list[Clip]:
    held_out_clips = set(_held_out_clips(clips, held_out))
    return [clip for clip in clips if clip not in held_out_clips]


def _first_held_out(clip: Clip, held_out: float) -> int:
    """The first held-out frame."""
    return clip.frames - round(clip.frames * held_out)


def scale_bytes(window: NDArray[np.float32], frames: NDArray[Any]) -> None:
    """Brightness in [0, 1]."""
    window[:] = frames
    window /= 255  # per window, while it is in the CPU cache


def draw_windows(
    spans: Sequence[Span],
    strides: Sequence[int],
    shape: tuple[int, int],
    rng: np.random.Generator,
    fill: Fill = scale_bytes,
    frame: tuple[int, ...] | None = None,
) -> NDArray[np.float32]:
    """Random windows (count, length, *frame), each with a random stride.

    `frame` is the shape that `fill` returns, if it differs from the shape of the clips.
    """
    count, length = shape
    counts = {stride: _window_counts(spans, length, stride) for stride in strides}
    possible = [stride for stride in strides if counts[stride][-1]]
    if not possible:
        longest = max(span.last - span.first for span in spans)
        raise VPRError(
            f"{length} frames at stride {min(strides)} need {1 + (length - 1) * min(strides)} in a "
            f"row, this part of the data has {longest}: take shorter sequences or more data"
        )
    stride_of = np.array(possible)[rng.integers(len(possible), size=count)]
    place = rng.integers([counts[stride][-1] for stride in stride_of])
    shape_of = frame or memory_mapped(spans[0].clip.path).shape[1:]
    frames = np.empty((count, length, *shape_of), dtype=np.float32)
    for window, stride, k in zip(frames, stride_of.tolist(), place.tolist(), strict=True):
        before = counts[stride]
        which = int(np.searchsorted(before, k, side="right"))
        first = spans[which].first + k - (int(before[which - 1]) if which else 0)
        clip = memory_mapped(spans[which].clip.path)
        fill(window, clip[first : first + (length - 1) * stride + 1 : stride])
    return frames


def longest_window(spans: Sequence[Span], strides: Sequence[int]) -> int:
    """Frames of the longest window, at the smallest stride."""
    longest = max((span.last - span.first for span in spans), default=0)
    return (longest - 1) // min(strides) + 1


def _window_counts(spans: Sequence[Span], length: int, stride: int) -> Counts:
    """The cumulative number of windows in the spans."""
    lengths = np.array([span.last - span.first for span in spans])
    counts: Counts = np.maximum(lengths - (length - 1) * stride, 0).cumsum()
    return counts
