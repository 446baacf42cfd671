"""The events of one piece of footage and the values compared to find them, with exports."""

from __future__ import annotations

import math
import os
import reprlib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.events import Boundary, Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TINY = 1e-12
Series = NDArray[np.float32]  # (frames,), NaN where the level was not evaluated


class Event(NamedTuple):
    """An event of a level, which starts at a frame."""

    frame: int
    time: Fraction  # seconds, exact: presentation time × time base
    level: int  # 2 or higher: level 1 updates at every frame
    kind: Kind  # expected (CE), unexpected (CU), both, or a fixed clock
    kl_static: float  # D_st
    kl_change: float  # D_ch
    threshold: float  # γ · typical D_st
    probability: float | None = None  # that it is a transition, if the model is calibrated

    @classmethod
    def of(cls, boundary: Boundary, time: Fraction) -> Event:
        b = boundary
        return cls(b.frame, time, b.level, b.kind, b.kl_static, b.kl_change, b.threshold)

    @property
    def fit(self) -> float:
        """ln D_st − ln D_ch, above 0 if the predicted next state fits better (CE)."""
        return _log_ratio(self.kl_static, self.kl_change)

    @property
    def surprise(self) -> float:
        """ln D_st − ln threshold, above 0 if the belief changed more than usual (CU)."""
        return _log_ratio(self.kl_static, self.threshold)

    @property
    def score(self) -> float:
        """The strength of the event: the larger of `fit` and `surprise`."""
        return max(self.fit, self.surprise)

    @property
    def strength(self) -> float:
        """The probability, or the score if there is none: to compare events of one level."""
        return self.score if self.probability is None else self.probability

    def measures(self) -> dict[str, float]:
        """Score, fit and surprise."""
        fit, surprise = self.fit, self.surprise
        return {"score": max(fit, surprise), "fit": fit, "surprise": surprise}


class Curves(NamedTuple):
    """The values that one level compared at every frame."""

    kl_static: Series
    kl_change: Series
    threshold: Series


@dataclass(frozen=True, repr=False)
class Timeline:
    """The events of one piece of footage."""

    source: str  # its path or name
    model: str  # the name of the model
    levels: int  # of the model; level 1 updates at every frame and has no events
    frames: int
    times: NDArray[np.float64]  # (frames,) seconds, for curves; the times of events are exact
    boundaries: list[Event]  # by frame, then level
    curves: dict[int, Curves] = field(default_factory=dict)  # level 2, 3, …
    pictures: dict[int, bytes] = field(default_factory=dict)  # frame → small JPEG
    span: tuple[Fraction, Fraction] | None = (
        None  # exact seconds: start of the first frame, end of the last
    )
    problem: str | None = None  # description of damage, in one line
    undecodable: int = 0  # frames that could not be decoded
    warnings: tuple[str, ...] = ()  # why the events should not be trusted

    def __post_init__(self) -> None:
        # Kinds become parts of tables, chapters and pages.
        if unknown := {event.kind for event in self.boundaries} - set(get_args(Kind)):
            raise VPRError(f"an event has the unknown kind {reprlib.repr(unknown.pop())}")

    @property
    def start(self) -> Fraction:
        """The time of the first frame."""
        return self.span[0] if self.span else _seconds(self.times[:1])

    @property
    def end(self) -> Fraction:
        """The end of the last frame, which is assumed to last as long as the frame before it."""
        return self.span[1] if self.span else _seconds(self.times[-1:])

    @property
    def reported_levels(self) -> list[int]:
        """The levels that were reported; without curves, all levels from 2."""
        return sorted(self.curves) or list(range(2, self.levels + 1))

    def events(self, level: int) -> list[Event]:
        """The events of one level."""
        return [event for event in self.boundaries if event.level == level]

    def to_pandas(self) -> DataFrame:
        """A table with one row per event."""
        from vpr.segmenting.event_table import event_frame

        return event_frame(self)

    def to_csv(self, path: Path | str) -> None:
        """Write a table with one row per event; `exact` is its time in seconds as a fraction."""
        from vpr.segmenting.event_table import write_csv

        write_csv(Path(path), self)

    def to_json(self, path: Path | str) -> None:
        """Write everything, for `from_json`."""
        from vpr.segmenting.timeline_json import write_timeline

        write_timeline(Path(path), self)

    @classmethod
    def from_json(cls, path: Path | str) -> Timeline:
        """Read a file that `to_json` wrote."""
        from vpr.segmenting.timeline_json import read_timeline

        return read_timeline(Path(path))

    def to_webvtt(self, path: Path | str) -> list[Path]:
        """Write chapters, one WebVTT track per level: NAME.level2.vtt for NAME.vtt, and so on.

        Times are rounded to milliseconds. Returns the paths.
        """
        from vpr.segmenting.chapters import write_chapters
        from vpr.segmenting.webvtt import webvtt

        return write_chapters(Path(path), self, webvtt)

    def to_ffmetadata(self, path: Path | str) -> list[Path]:
        """Write the chapters for ffmpeg, with exact times: NAME.level2.ffmeta for NAME.ffmeta."""
        from vpr.segmenting.chapters import write_chapters
        from vpr.segmenting.ffmetadata import ffmetadata

        return write_chapters(Path(path), self, ffmetadata)

    def to_eaf(self, path: Path | str) -> None:
        """Write annotations for ELAN, one tier per level. Times are rounded to milliseconds."""
        from vpr.segmenting.elan import write_eaf

        write_eaf(Path(path), self)

    def to_label_studio(self, path: Path | str) -> None:
        """Write a task with predictions for Label Studio, in JSON."""
        from vpr.segmenting.label_studio import label_studio
        from vpr.utils.files import write_json

        write_json(Path(path), label_studio(self))

    def to_otio(self, path: Path | str) -> None:
        """Write an OpenTimelineIO timeline for video editors, one track per level."""
        from vpr.segmenting.opentimeline import otio
        from vpr.utils.files import write_json

        write_json(Path(path), otio(self))

    def to_edl(self, path: Path | str) -> list[Path]:
        """Write cuts for video editors (CMX 3600): NAME.level2.edl for NAME.edl, and so on.

        Returns the paths.
        """
        from vpr.segmenting.chapters import write_chapters
        from vpr.segmenting.edl import edl

        return write_chapters(Path(path), self, edl)

    def to_html(self, path: Path | str) -> None:
        """Write an HTML page that opens offline; it plays the footage if that is a file."""
        from vpr.pages.timeline.timeline_page import timeline_page_parts
        from vpr.utils.files import write_parts

        write_parts(
            Path(path), timeline_page_parts(self, _relative_source(Path(path), self.source))
        )

    def plot(self) -> Figure:
        """A matplotlib figure with the events and curves of each level."""
        from vpr.segmenting.plot import plot

        return plot(self)

    def __repr__(self) -> str:
        """The number of events per level, instead of all arrays."""
        counts = ", ".join(f"level {n}: {len(self.events(n))}" for n in self.reported_levels)
        return f"<Timeline of {self.source!r}: {self.frames} frames, events at {counts}>"

    def _repr_html_(self) -> str:
        """A summary for notebooks."""
        from vpr.pages.timeline.notebook_summary import notebook_summary

        return notebook_summary(self)


def _relative_source(page: Path, source: str) -> str | None:
    """The path from a page to the footage; None if that is not a file."""
    if not os.path.isfile(source):
        return None
    try:
        return os.path.relpath(source, page.parent)
    except ValueError:  # on another drive
        return None


def _seconds(time: NDArray[np.float64]) -> Fraction:  # one, or none
    return Fraction(float(time[0])).limit_denominator(1_000_000) if len(time) else Fraction(0)


def _log_ratio(a: float, b: float) -> float:
    """ln a − ln b of two divergences, at least `TINY`; −inf if one is NaN."""
    if math.isnan(a) or math.isnan(b):
        return -math.inf
    return math.log(a if a > TINY else TINY) - math.log(b if b > TINY else TINY)
