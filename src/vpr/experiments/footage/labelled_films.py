"""Films made of real clips, as video files with labels, and scores against the labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vpr.data.base import OnProgress
from vpr.data.effects import Distractor
from vpr.data.montage import Boundary, Film, Montage
from vpr.evaluation.matching import MatchCounts
from vpr.experiments.footage.real_clips import Part, pieces
from vpr.utils.files import read_json, write_json
from vpr.video.frames import Picture
from vpr.video.mp4 import write_mp4

Span = tuple[Fraction, Fraction]  # seconds; equal for a cut
TOLERANCE = 0.2  # seconds
RATE = 25  # frames per second
MAX_SHOT_FRAMES = 80  # without transitions; at least 35


class FilmFile(NamedTuple):
    """A film on disk."""

    path: Path
    boundaries: list[Boundary]
    distractors: list[Distractor]
    frames: int

    def spans(self, *kinds: str) -> list[Span]:
        """Start and end in seconds of the transitions of these kinds, or of all."""
        return [
            (Fraction(each.first, RATE), Fraction(each.last, RATE))
            for each in self.boundaries
            if not kinds or each.kind in kinds
        ]


class FilmPlan(NamedTuple):
    """Which film to make: from which clips, how many shots, and its seed."""

    name: str
    part: Part
    shots: int
    seed: int


def load_or_make(
    plan: FilmPlan, clips: Path, folder: Path, on_progress: OnProgress | None = None
) -> FilmFile:
    """The film in `folder`; it is made first if it is missing."""
    path = folder / f"{plan.name}.mp4"
    labels = path.with_suffix(".labels.json")
    if not labels.exists():
        montage = Montage(
            pieces(clips, plan.part),
            max_shot_frames=MAX_SHOT_FRAMES,
            cache=str(folder / "decoded"),
        )
        montage.prepare()
        film = montage.plan(plan.shots, np.random.default_rng(plan.seed))
        write_mp4(path, _counted(montage, film, on_progress), 1000 // RATE)
        write_json(labels, _labels(film))
    return _read(path, read_json(labels))


def _counted(montage: Montage, film: Film, on_progress: OnProgress | None) -> Iterator[Picture]:
    for number, picture in enumerate(montage.pictures(film)):
        if on_progress is not None and number % RATE == 0:
            on_progress(number, film.frames)
        yield picture


def _labels(film: Film) -> dict[str, Any]:
    return {
        "frames": film.frames,
        "boundaries": [each._asdict() for each in film.boundaries],
        "distractors": [each._asdict() for each in film.distractors],
    }


def _read(path: Path, labels: dict[str, Any]) -> FilmFile:
    return FilmFile(
        path,
        [Boundary(**each) for each in labels["boundaries"]],
        [Distractor(**each) for each in labels["distractors"]],
        labels["frames"],
    )


FILMS = {
    plan.name: plan
    for plan in (
        FilmPlan("training", "training", 300, 2),
        FilmPlan("development", "development", 200, 3),
        FilmPlan("test", "test", 350, 4),
    )
}


def tally(
    found: Sequence[float], true: Sequence[Span], ignored: Sequence[Span] = ()
) -> MatchCounts:
    """A transition is found if a time lies within it or at most `TOLERANCE` from it.

    Each further time in the same transition counts as wrong. Times in `ignored` transitions do not
    count. Transitions are further apart than twice the tolerance.
    """
    counts = [sum(_inside(time, span) for time in found) for span in true]
    apart = sum(any(_inside(time, span) for span in ignored) for time in found)
    matched = sum(count > 0 for count in counts)
    return MatchCounts(matched, len(found) - apart, len(true))


def inside(time: float, spans: Sequence[Span]) -> int | None:
    """The index of the first transition that a time is in, or close to."""
    return next((n for n, span in enumerate(spans) if _inside(time, span)), None)


def _inside(time: float, span: Span) -> bool:
    # A little more, for the rounding of times in binary.
    return float(span[0]) - TOLERANCE - 1e-6 <= time <= float(span[1]) + TOLERANCE + 1e-6
