"""Agreement of several annotators with each other, next to that of the predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vpr.evaluation.boundary_files import Marks
from vpr.evaluation.labelled_videos import Video
from vpr.evaluation.matching import MatchCounts, boundary_scores
from vpr.evaluation.tolerance import Tolerance


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
