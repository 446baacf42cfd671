"""Which frames are trained on and which are held out, and windows cut out of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.clips import Clip, mapped
from vpr.errors import VPRError

Counts = NDArray[np.int64]
Fill = Callable[[NDArray[np.float32], NDArray[Any]], None]  # writes frames of a clip into a window


class Span(NamedTuple):
    """Frames of a clip, from `first` up to `last`, which is not in it."""

    clip: Clip
    first: int
    last: int


def training_spans(clips: Sequence[Clip], held_out: float) -> list[Span]:
    """What is left when `held_out_spans` has taken its share."""
    if _many(clips, held_out):
        return [Span(clip, 0, clip.frames) for clip in _others(clips, held_out)]
    return [Span(clip, 0, _end(clip, held_out)) for clip in clips]


def held_out_spans(clips: Sequence[Clip], held_out: float) -> list[Span]:
    """The last share of every clip; of many clips a share of them, whole and evenly spread.

    Many clips may each be too short for a part of them to hold a sequence.
    """
    if _many(clips, held_out):
        return [Span(clip, 0, clip.frames) for clip in _chosen(clips, held_out)]
    return [Span(clip, _end(clip, held_out), clip.frames) for clip in clips]


def _many(clips: Sequence[Clip], held_out: float) -> bool:
    """So many that two or more of them are the share."""
    return len(clips) * held_out >= 2


def _chosen(clips: Sequence[Clip], held_out: float) -> list[Clip]:
    return [clip for n, clip in enumerate(clips) if int((n + 1) * held_out) > int(n * held_out)]


def _others(clips: Sequence[Clip], held_out: float) -> list[Clip]:
    chosen = set(_chosen(clips, held_out))
    return [clip for clip in clips if clip not in chosen]


def _end(clip: Clip, held_out: float) -> int:
    """Where training ends."""
    return clip.frames - round(clip.frames * held_out)


def from_bytes(window: NDArray[np.float32], frames: NDArray[Any]) -> None:
    """Brightness in [0, 1]."""
    window[:] = frames
    window /= 255  # at once, while it is in the processor's cache


def draw_windows(
    spans: Sequence[Span],
    strides: Sequence[int],
    shape: tuple[int, int],
    rng: np.random.Generator,
    fill: Fill = from_bytes,
) -> NDArray[np.float32]:
    """(count, length, *frame): a stride for each, then any window of it alike."""
    count, length = shape
    room = {stride: _room(spans, length, stride) for stride in strides}
    possible = [stride for stride in strides if room[stride][-1]]
    if not possible:
        longest = max(span.last - span.first for span in spans)
        raise VPRError(
            f"{length} frames at stride {min(strides)} need {1 + (length - 1) * min(strides)} in a "
            f"row, this part of the data has {longest}: take shorter sequences or more data"
        )
    chosen = np.array(possible)[rng.integers(len(possible), size=count)]
    place = rng.integers([room[stride][-1] for stride in chosen])
    frames = np.empty((count, length, *mapped(spans[0].clip.path).shape[1:]), dtype=np.float32)
    for window, stride, k in zip(frames, chosen.tolist(), place.tolist(), strict=True):
        before = room[stride]
        which = int(np.searchsorted(before, k, side="right"))
        first = spans[which].first + k - (int(before[which - 1]) if which else 0)
        clip = mapped(spans[which].clip.path)
        fill(window, clip[first : first + (length - 1) * stride + 1 : stride])
    return frames


def _room(spans: Sequence[Span], length: int, stride: int) -> Counts:
    """How many windows there are in each span and those before it."""
    lengths = np.array([span.last - span.first for span in spans])
    room: Counts = np.maximum(lengths - (length - 1) * stride, 0).cumsum()
    return room
