"""What was found in one piece of footage: its events, level by level, and what decided."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.boundaries import Boundary, Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TINY = 1e-12
Series = NDArray[np.float32]  # (frames,), NaN where the signal did not arrive


class Event(NamedTuple):
    """A level's features changed at a frame."""

    frame: int
    time: Fraction  # seconds, exact: presentation time × time base
    level: int  # 2 is the lowest that can hold back
    kind: Kind  # expected (CE), unexpected (CU), both; or a rule that asks neither
    kl_static: float  # D_st
    kl_change: float  # D_ch
    threshold: float  # γ · usual D_st

    @classmethod
    def of(cls, boundary: Boundary, time: Fraction) -> Event:
        b = boundary
        return cls(b.frame, time, b.level, b.kind, b.kl_static, b.kl_change, b.threshold)

    @property
    def fit(self) -> float:
        """ln D_st − ln D_ch: above 0 the predicted next state fits better than the old (CE)."""
        return _log_ratio(self.kl_static, self.kl_change)

    @property
    def surprise(self) -> float:
        """ln D_st − ln threshold: above 0 the belief moved more than usual (CU)."""
        return _log_ratio(self.kl_static, self.threshold)

    @property
    def score(self) -> float:
        """How clearly it was an event, by whichever criterion speaks louder."""
        return max(self.fit, self.surprise)

    def measures(self) -> dict[str, float]:
        """All three, each computed once."""
        fit, surprise = self.fit, self.surprise
        return {"score": max(fit, surprise), "fit": fit, "surprise": surprise}


class Curves(NamedTuple):
    """What one level compared at every frame."""

    kl_static: Series
    kl_change: Series
    threshold: Series


@dataclass(frozen=True)
class Timeline:
    """The events of one piece of footage."""

    source: str  # its path, or what it was called
    model: str  # the name of the model that watched
    levels: int  # of the model; level 1 updates at every frame and has no events
    frames: int
    times: NDArray[np.float64]  # (frames,) seconds, for curves; an event's own time is exact
    boundaries: list[Event]  # by frame, then level
    curves: dict[int, Curves] = field(default_factory=dict)  # level 2, 3, …
    pictures: dict[int, bytes] = field(default_factory=dict)  # frame → small JPEG
    span: tuple[Fraction, Fraction] | None = None  # seconds, exact: first frame, end of the last
    trouble: str | None = None  # what was broken or missing, in one line

    @property
    def start(self) -> Fraction:
        """When the first frame is shown."""
        return self.span[0] if self.span else _seconds(self.times[:1])

    @property
    def end(self) -> Fraction:
        """When the last frame ends, which is taken to last as long as the one before."""
        return self.span[1] if self.span else _seconds(self.times[-1:])

    @property
    def reported(self) -> list[int]:
        """The levels whose events were asked for; all that can have any, without curves."""
        return sorted(self.curves) or list(range(2, self.levels + 1))

    def events(self, level: int) -> list[Event]:
        """Those of one level."""
        return [event for event in self.boundaries if event.level == level]

    def to_pandas(self) -> DataFrame:
        """One row an event."""
        from vpr.segmenting.event_table import frame_of

        return frame_of(self)

    def to_csv(self, path: Path | str) -> None:
        """One row an event; `exact` is its time in seconds as a fraction."""
        from vpr.segmenting.event_table import write_csv

        write_csv(Path(path), self)

    def to_json(self, path: Path | str) -> None:
        """All there is, for `from_json`."""
        from vpr.segmenting.timeline_json import write_timeline

        write_timeline(Path(path), self)

    @classmethod
    def from_json(cls, path: Path | str) -> Timeline:
        from vpr.segmenting.timeline_json import read_timeline

        return read_timeline(Path(path))

    def to_webvtt(self, path: Path | str) -> list[Path]:
        """Chapters from event to event, a track a level: NAME.level2.vtt for NAME.vtt, and so on.

        WebVTT counts milliseconds; times are rounded to the nearest.
        """
        from vpr.segmenting.chapters import write_chapters
        from vpr.segmenting.webvtt import webvtt

        return write_chapters(Path(path), self, webvtt)

    def to_ffmetadata(self, path: Path | str) -> list[Path]:
        """The same chapters for ffmpeg, with exact times: NAME.level2.ffmeta for NAME.ffmeta."""
        from vpr.segmenting.chapters import write_chapters
        from vpr.segmenting.ffmetadata import ffmetadata

        return write_chapters(Path(path), self, ffmetadata)

    def to_html(self, path: Path | str) -> None:
        """One page to look at, which needs no network; it plays the footage, if that is a file."""
        from vpr.pages.timeline.timeline_page import timeline_page_parts
        from vpr.utils.files import write_parts

        write_parts(Path(path), timeline_page_parts(self, _seen_from(Path(path), self.source)))

    def plot(self) -> Figure:
        """A figure of matplotlib: for each level its events and the curves that decided."""
        from vpr.segmenting.plot import plot

        return plot(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from vpr.pages.timeline.notebook_summary import notebook_summary

        return notebook_summary(self)


def _seen_from(page: Path, source: str) -> str | None:
    """The way from a page to the footage; None if that is no file."""
    if not os.path.isfile(source):
        return None
    try:
        return os.path.relpath(source, page.parent)
    except ValueError:  # on another drive
        return None


def _seconds(time: NDArray[np.float64]) -> Fraction:  # one, or none
    return Fraction(float(time[0])).limit_denominator(1_000_000) if len(time) else Fraction(0)


def _log_ratio(a: float, b: float) -> float:
    """Of two divergences; one that is 0 (or unknown) is as good as endlessly small."""
    if math.isnan(a) or math.isnan(b):
        return -math.inf
    return math.log(a if a > TINY else TINY) - math.log(b if b > TINY else TINY)
