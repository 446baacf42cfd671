"""Which predicted boundaries belong to which labels: by file name, column `file` and annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vpr.errors import VPRError
from vpr.evaluation.boundary_files import SUFFIXES, Mark, Marks, read_marks
from vpr.evaluation.tolerance import Scale

# Files of `vpr segment` that are not boundaries, or the same ones again.
SKIPPED = (".sweep.csv", ".label-studio.json")


class Video(NamedTuple):
    """Predicted boundaries of a video, and those of each annotator."""

    name: str
    predicted: Marks
    true: dict[str, Marks]  # annotator → boundaries


@dataclass(frozen=True)
class LabelledVideos:
    """Finds the videos of files or folders; `missing` and `failed` list those that are left out."""

    predicted: Path
    truths: Sequence[Path]  # of several annotators
    scales: set[Scale]
    annotators: Sequence[str] = ()  # to be used; all if empty
    missing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def find(self) -> list[Video]:
        """All videos, at least one."""
        if any(truth.is_dir() != self.predicted.is_dir() for truth in self.truths):
            raise VPRError("give files or folders, not files and folders together")
        if not self.predicted.is_dir():
            return self._in_files(self.predicted, {str(path): path for path in self.truths}, "")
        videos = list(self._in_folders())
        if not videos:
            raise VPRError(self.failed[0] if self.failed else self._no_partner())
        return videos

    def _in_folders(self) -> Iterator[Video]:
        ours = _by_name(self.predicted)
        theirs = {folder: _by_name(folder) for folder in self.truths}
        for folder, named in theirs.items():
            self.missing.extend(f"{name}: not in {folder}" for name in ours if name not in named)
            self.missing.extend(
                f"{name}: not in {self.predicted}" for name in named if name not in ours
            )
        for name, path in ours.items():
            labels = {str(folder): named[name] for folder, named in theirs.items() if name in named}
            try:
                yield from self._in_files(path, labels, name) if labels else []
            except VPRError as error:
                self.failed.append(str(error))

    def _in_files(self, predicted: Path, labels: Mapping[str, Path], name: str) -> list[Video]:
        """One video, or one per value of the column `file`."""
        found = read_marks(predicted, self.scales)
        real = {label: self._read(path) for label, path in labels.items()}
        files = [{mark.file for mark in side.marks} for side in (found, *real.values())]
        if any(None in side for side in files) and any(side - {None} for side in files):
            paths = " and ".join(map(str, (predicted, *labels.values())))
            raise VPRError(f"the column 'file' must be in all of {paths}, or in none")
        return [
            Video(
                "/".join(part for part in (name, file) if part) or predicted.stem,
                _of_file(found, file),
                _by_annotator({label: _of_file(marks, file) for label, marks in real.items()}),
            )
            for file in sorted(set[str | None]().union(*files), key=str) or [None]
        ]

    def _read(self, path: Path) -> Marks:
        """The labels of the chosen annotators."""
        marks = read_marks(path, self.scales)
        if not self.annotators:
            return marks
        chosen = [mark for mark in marks.marks if mark.annotator in self.annotators]
        if not chosen:
            has = ", ".join(sorted({mark.annotator or "–" for mark in marks.marks}))
            raise VPRError(
                f"{path} has no boundaries of {', '.join(self.annotators)}, but of {has}"
            )
        return Marks(path, chosen)

    def _no_partner(self) -> str:
        names = next(iter(_by_name(self.predicted))), next(iter(_by_name(self.truths[0])))
        return (
            f"no file in {self.predicted} has the name of a file in {self.truths[0]}: they are "
            f"compared by name without suffix, such as {names[0]} and {names[1]}"
        )


def _of_file(marks: Marks, file: str | None) -> Marks:
    return Marks(marks.path, [mark for mark in marks.marks if mark.file == file])


def _by_annotator(labels: Mapping[str, Marks]) -> dict[str, Marks]:
    """Labels of one video by annotator: one per file, or one per name in a file.

    An annotator named in a file counts for a video only if they marked a boundary in it.
    """
    divided: dict[str, Marks] = {}
    for label, marks in labels.items():
        named: dict[str | None, list[Mark]] = {}
        for mark in marks.marks:
            named.setdefault(mark.annotator, []).append(mark)
        for annotator, theirs in (named or {None: []}).items():
            if annotator is None:
                name = label
            else:
                name = annotator if len(labels) == 1 else f"{label}: {annotator}"
            divided[name] = Marks(marks.path, theirs)
    return divided


def _by_name(folder: Path) -> dict[str, Path]:
    """Files by path in the folder, without the suffix."""
    paths = sorted(path for path in folder.rglob("*") if _is_labels(path))
    # The last of a name is used, the one whose suffix comes first.
    paths.sort(key=lambda path: SUFFIXES.index(path.suffix.lower()), reverse=True)
    named = {str(path.relative_to(folder).with_suffix("")): path for path in paths}
    if not named:
        raise VPRError(f"no {', '.join(SUFFIXES)} files in {folder}")
    return dict(sorted(named.items()))


def _is_labels(path: Path) -> bool:
    known = path.suffix.lower() in SUFFIXES and not path.name.endswith(SKIPPED)
    return known and path.is_file()
