"""Footage in, timeline out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.model import VPR
from vpr.pretrained import load_model
from vpr.segmenting.fitting import fit_for
from vpr.segmenting.recorder import Record
from vpr.segmenting.segmenter import CHUNK, Eye, check_watches, with_threshold
from vpr.segmenting.timeline import Timeline
from vpr.video import Fit, Frame, Picture, Source, open_footage
from vpr.video.fit import Mode

Footage = str | os.PathLike[str] | NDArray[Any] | Source | Iterable[Frame]
Watch = Callable[[int, int | None], None]  # frames done, frames expected


def segment(
    what: Footage,
    model: VPR | str | os.PathLike[str],
    *,
    threshold: float | None = None,
    levels: Sequence[int] | None = None,
    min_gap: float | Fraction = 0,
    fit: Mode | None = None,
    rate: float | Fraction | None = None,
    watch: Watch | None = None,
) -> Timeline:
    """The events of one piece of footage, in constant memory however long it is.

    `what`: whatever `vpr.video.open_footage` opens (a file, a folder of pictures, an array
    (T, H, W, 3), a URL), a source of your own, or frames. `model`: a model, a run folder or the
    name of a shipped model.

    `threshold` is γ: a belief that moves so many times more than usual is unexpected; the model's
    own if not given. `levels` are those to report, 2 or higher. `min_gap` in seconds: of two events
    of a level that are closer, only the stronger stays. `fit` says what becomes of proportions
    other than the model's: as in its training, or letterbox. `rate` is for footage without times.
    """
    name = "a model" if isinstance(model, VPR) else os.fspath(model)
    chosen = with_threshold(model if isinstance(model, VPR) else load_model(name), threshold)
    check_watches(chosen)
    wanted, gap = reported(levels, chosen.config.levels), as_gap(min_gap)
    scaling = Fit.to(chosen.config.frame, fit or fit_for(name))
    source = as_source(what, scaling, rate)
    record = follow(source, Eye(chosen), Record(chosen.config.levels), scaling, watch)
    timeline = record.timeline(source.name, name, wanted, gap)
    return replace(timeline, trouble=getattr(source, "trouble", None))


def follow(
    source: Source, eye: Eye, record: Record, fit: Fit, watch: Watch | None = None
) -> Record:
    """All that the eye sees in the source, written down."""
    frames = iter(source)

    def look() -> int:
        """At one chunk, which is let go before the next is read: its frames are large."""
        chunk = list(islice(frames, CHUNK))
        if chunk:
            told = eye.look([fitted(frame.picture, fit) for frame in chunk])
            for frame, evidence in zip(chunk, told, strict=True):
                record.add(frame, evidence)
        return len(chunk)

    while look():
        if watch is not None:
            watch(len(record.times), source.expected)
    if not record.times:
        raise VPRError(f"{source.name} has no frames")
    return record


def fitted(picture: Picture, fit: Fit) -> Picture:
    """Footage that we opened has the right size already; other people's frames may not."""
    same = picture.shape == (fit.height, fit.width, fit.channels)
    return picture if same else fit(picture)


def as_source(what: Footage, fit: Fit, rate: float | Fraction | None = None) -> Source:
    if isinstance(what, str | os.PathLike | np.ndarray):
        return open_footage(what, fit=fit, rate=rate)
    if hasattr(what, "name") and hasattr(what, "expected"):
        return what  # type: ignore[return-value]
    if isinstance(what, Iterable):
        return Frames(what)
    raise VPRError(f"footage is a path, an array or frames, not {type(what).__name__}")


@dataclass
class Frames:
    """Anything that gives frames, as a source."""

    frames: Iterable[Frame]
    name: str = "frames"
    expected: int | None = None
    trouble: str | None = None

    def __iter__(self) -> Iterator[Frame]:
        for frame in self.frames:
            if not isinstance(frame, Frame):
                raise VPRError(f"footage is made of vpr.video.Frame, not {type(frame).__name__}")
            yield frame


def reported(levels: Sequence[int] | None, of: int) -> list[int]:
    """The levels to report of a model with so many."""
    if levels is None:
        return list(range(2, of + 1))
    for level in levels:
        if not 2 <= level <= of:
            raise VPRError(f"levels of this model that have events are 2 to {of}, got {level}")
    if not levels:
        raise VPRError("name at least one level")
    return sorted(set(levels))


def as_gap(seconds: float | Fraction) -> Fraction:
    """0.2 is a fifth of a second, not the nearest float, so that events just so far apart stay."""
    try:
        gap = seconds if isinstance(seconds, Fraction) else Fraction(str(seconds))
    except ValueError:
        gap = Fraction(-1)
    if gap < 0:
        raise VPRError(f"min_gap must be 0 seconds or more, got {seconds}")
    return gap
