"""Scores of files of boundaries against labels, and the agreement of several annotators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vpr.errors import VPRError
from vpr.evaluation.boundary_files import Marks
from vpr.evaluation.labelled_videos import LabelledVideos, Video
from vpr.evaluation.matching import MatchCounts, boundary_scores
from vpr.evaluation.tolerance import Tolerance


def evaluate_boundaries(
    predicted: Path,
    truth: Path | Sequence[Path],
    tolerances: Sequence[Tolerance],
    level: int | None = None,
    annotators: Sequence[str] = (),
) -> dict[str, Any]:
    """Scores of each level, or of one level, at each tolerance: over all files and by file.

    In folders, files of the same name are compared. Files that exist in one folder only are
    `missing`, files that cannot be read are `failed`; neither is counted. `truth` may be several
    paths, one per annotator, and a file may name its annotators; counts are summed over them.
    `annotators` selects some of the annotators that are named in files.
    """
    truths = [truth] if isinstance(truth, Path) else list(truth)
    scales = {tolerance.scale for tolerance in tolerances}
    finder = LabelledVideos(predicted, truths, scales, annotators)
    videos = finder.find()
    keys = [(each, tolerance) for each in _levels(videos, level) for tolerance in tolerances]
    by_file = {video.name: {key: _summed_counts(video, *key) for key in keys} for video in videos}
    summed = {key: sum((each[key] for each in by_file.values()), MatchCounts()) for key in keys}
    return {
        "predicted": str(predicted),
        "truth": str(truth) if isinstance(truth, Path) else [str(path) for path in truths],
        "videos": len(videos),
        "scores": _as_json(summed),
        "agreement": [row for key in keys for row in agreement(videos, *key)],
        "by_file": {name: _as_json(counted) for name, counted in by_file.items()},
        "missing": finder.missing,
        "failed": finder.failed,
    }


Key = tuple[int | None, Tolerance]


def _levels(videos: Sequence[Video], level: int | None) -> list[int | None]:
    sides = [side for video in videos for side in (video.predicted, *video.true.values())]
    there = set[int]().union(*(side.levels() for side in sides))
    if level is None:
        return [*sorted(there)] or [None]
    if there and level not in there:
        has = ", ".join(map(str, sorted(there)))
        raise VPRError(f"there are no boundaries of level {level}: choose one of {has}")
    return [level]


def _summed_counts(video: Video, level: int | None, tolerance: Tolerance) -> MatchCounts:
    """Summed over the annotators."""
    counted = (
        match_counts(video.predicted, real, level, tolerance) for real in video.true.values()
    )
    return sum(counted, MatchCounts())


def _as_json(counted: dict[Key, MatchCounts]) -> list[dict[str, Any]]:
    return [
        {
            "level": level,
            "tolerance": tolerance.text,
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "matched": counts.matched,
            "predicted": counts.predicted,
            "true": counts.true,
            "mean_distance": counts.mean_distance,
        }
        for (level, tolerance), counts in counted.items()
    ]


def agreement(
    videos: Sequence[Video], level: int | None, tolerance: Tolerance
) -> list[dict[str, Any]]:
    """For each annotator the F1 of the predictions, and of all other annotators of the same videos.

    Empty if no video has several annotators. `others` is None for an annotator without others.
    """
    if all(len(video.true) < 2 for video in videos):
        return []
    names = dict.fromkeys(name for video in videos for name in video.true)
    return [
        {"annotator": name, "level": level, "tolerance": tolerance.text}
        | _scores([video for video in videos if name in video.true], name, level, tolerance)
        for name in names
    ]


def _scores(
    videos: Sequence[Video], name: str, level: int | None, tolerance: Tolerance
) -> dict[str, float | None]:
    ours, others = MatchCounts(), MatchCounts()
    compared = False
    for video in videos:
        ours += match_counts(video.predicted, video.true[name], level, tolerance)
        for other, marks in video.true.items():
            if other != name:
                compared = True
                others += match_counts(marks, video.true[name], level, tolerance)
    return {"predicted": ours.f1, "others": others.f1 if compared else None}


def match_counts(found: Marks, real: Marks, level: int | None, tolerance: Tolerance) -> MatchCounts:
    """Counts of one side against the other."""
    predicted, true = (side.places(tolerance.scale, level) for side in (found, real))
    return boundary_scores(predicted, true, tolerance.value)
