"""Score files or folders of predicted boundaries against labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vpr.errors import VPRError
from vpr.evaluation.boundary_files import SUFFIXES, Marks, read_marks
from vpr.evaluation.matching import Tally, boundary_scores
from vpr.evaluation.tolerance import Scale, Tolerance


class Video(NamedTuple):
    """Predicted and true boundaries of a video."""

    name: str
    predicted: Marks
    true: Marks


def evaluate_boundaries(
    predicted: Path, truth: Path, tolerances: Sequence[Tolerance], level: int | None = None
) -> dict[str, Any]:
    """Scores of each level, or of one level, at each tolerance: over all files and by file.

    In folders, files of the same name are compared. Files that exist in one folder only are
    `missing`, files that cannot be read are `failed`; neither is counted.
    """
    missing: list[str] = []
    failed: list[str] = []
    scales = {tolerance.scale for tolerance in tolerances}
    videos = list(_videos(predicted, truth, scales, missing, failed))
    levels = _levels(videos, level)
    by_file = {v.name: {key: _tally(v, *key) for key in _keys(levels, tolerances)} for v in videos}
    summed = {
        key: sum((tallies[key] for tallies in by_file.values()), Tally())
        for key in _keys(levels, tolerances)
    }
    return {
        "predicted": str(predicted),
        "truth": str(truth),
        "videos": len(videos),
        "scores": _as_json(summed),
        "by_file": {name: _as_json(tallies) for name, tallies in by_file.items()},
        "missing": missing,
        "failed": failed,
    }


Key = tuple[int | None, Tolerance]


def _keys(levels: Sequence[int | None], tolerances: Sequence[Tolerance]) -> list[Key]:
    return [(level, tolerance) for level in levels for tolerance in tolerances]


def _levels(videos: Sequence[Video], level: int | None) -> list[int | None]:
    there = set[int]().union(*(v.predicted.levels() | v.true.levels() for v in videos))
    if level is None:
        return [*sorted(there)] or [None]
    if there and level not in there:
        has = ", ".join(map(str, sorted(there)))
        raise VPRError(f"there are no boundaries of level {level}: choose one of {has}")
    return [level]


def _tally(video: Video, level: int | None, tolerance: Tolerance) -> Tally:
    found, real = (side.places(tolerance.scale, level) for side in (video.predicted, video.true))
    return boundary_scores(found, real, tolerance.value)


def _as_json(tallies: dict[Key, Tally]) -> list[dict[str, Any]]:
    return [
        {
            "level": level,
            "tolerance": tolerance.text,
            "precision": tally.precision,
            "recall": tally.recall,
            "f1": tally.f1,
            "matched": tally.matched,
            "predicted": tally.predicted,
            "true": tally.true,
            "mean_distance": tally.mean_distance,
        }
        for (level, tolerance), tally in tallies.items()
    ]


def _videos(
    predicted: Path, truth: Path, scales: set[Scale], missing: list[str], failed: list[str]
) -> Iterator[Video]:
    if predicted.is_dir() != truth.is_dir():
        raise VPRError("give two files or two folders, not a file and a folder")
    if not predicted.is_dir():
        yield from _in_files(predicted, truth, scales, "")
        return
    theirs, ours = _by_name(predicted), _by_name(truth)
    missing += [f"{name}: not in {truth}" for name in theirs if name not in ours]
    missing += [f"{name}: not in {predicted}" for name in ours if name not in theirs]
    for name in [name for name in theirs if name in ours]:
        try:
            yield from _in_files(theirs[name], ours[name], scales, name)
        except VPRError as error:
            failed.append(str(error))


def _by_name(folder: Path) -> dict[str, Path]:
    """Files by path in the folder, without the suffix."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    paths.sort(key=lambda path: SUFFIXES.index(path.suffix), reverse=True)  # the first one is used
    named = {str(path.relative_to(folder).with_suffix("")): path for path in paths}
    if not named:
        raise VPRError(f"no {', '.join(SUFFIXES)} files in {folder}")
    return dict(sorted(named.items()))


def _in_files(predicted: Path, truth: Path, scales: set[Scale], name: str) -> list[Video]:
    """One video, or one per value of the column `file`."""
    found, real = read_marks(predicted, scales), read_marks(truth, scales)
    files = [{mark.file for mark in side.marks} for side in (found, real)]
    if any(None in side for side in files) and any(side - {None} for side in files):
        raise VPRError(f"the column 'file' must be in both {predicted} and {truth}, or in neither")
    named = sorted(files[0] | files[1], key=str)
    return [
        Video(
            "/".join(part for part in (name, file) if part) or predicted.stem,
            *(Marks(s.path, [m for m in s.marks if m.file == file]) for s in (found, real)),
        )
        for file in named or [None]
    ]
