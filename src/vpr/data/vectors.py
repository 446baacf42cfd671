"""Feature vectors without labels: from `.npy` files, or frozen features of footage."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import Batch, OnProgress
from vpr.data.clips import Clip, memory_mapped
from vpr.data.windows import Span, draw_windows, held_out_spans, longest_window, training_spans
from vpr.errors import VPRError
from vpr.features.extractor import EXTRACTORS
from vpr.features.preprocessing import Preprocessing, fit_components, fit_standard, unit_length
from vpr.utils.config_fields import option
from vpr.video.finding import ARRAYS, VIDEOS, find_footage
from vpr.video.image_folder import natural
from vpr.video.rates import as_rate

log = logging.getLogger("vpr")

ROWS = 4096  # per read, for the mean and the standard deviation
COMPONENTS = 64  # of frozen features


@dataclass(frozen=True)
class Vectors:
    """Windows of sequences of feature vectors, without labels.

    Each file is one sequence (T, F): T vectors of F features. Every feature is standardised with
    its mean and standard deviation in the part for training; a feature that is constant there is 0.
    With `features`, the files are footage, whose frozen features are computed once and kept in the
    cache. With `components`, the features are reduced to principal components of the part for
    training. Training never reads the held-out part.
    """

    name: ClassVar[str] = "vectors"

    path: str = option(
        "",
        "A .npy file (T, F), a folder of them, or a glob (in quotes); with features, footage.",
        local=True,
    )
    features: str = option("", "Frozen features of footage: efficientnet-lite0.")
    rate: float = option(12.5, "Frames of footage per second.")
    components: int = option(
        0, "Principal components to keep; 0: 64 of frozen features, of vectors all features."
    )
    fitted: str = option(
        "",
        "File features.safetensors of a model, whose mean, scale and components are used.",
        local=True,
    )
    held_out: float = option(0.1, "Share of the vectors that is held out for evaluation.")
    evaluating: bool = option(False, "Use the held-out part.", flag=False)

    def __post_init__(self) -> None:
        if not 0.01 <= self.held_out <= 0.5:
            raise VPRError(f"vectors need a held_out share from 0.01 to 0.5, got {self.held_out}")
        if self.components < 0:
            raise VPRError(f"vectors need 0 components or more, got {self.components}")
        if self.features and self.features not in EXTRACTORS:
            raise VPRError(f"no features {self.features!r}: choose one of {', '.join(EXTRACTORS)}")
        as_rate(self.rate)

    @property
    def frame(self) -> tuple[int, ...]:
        """(K,): the components, or the features in the header of the first file; (1,) without."""
        if self.features or self.components:
            return (self.components or COMPONENTS,)
        return _rows(_files(self.path)[0]).shape[1:] if self.path else (1,)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` random windows of `length` vectors."""
        read = self._read()
        windows = draw_windows(self._spans(), (1,), (count, length), rng, read.fill, self.frame)
        return Batch(windows, {}, {})

    def max_length(self) -> int:
        """The largest possible number of vectors in a sequence."""
        return longest_window(self._spans(), (1,))

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Compute frozen features; check all values, and fit the preprocessing."""
        if self.features:
            self._extract(on_progress)
        self._read()

    def preprocessing(self) -> Preprocessing:
        """The preprocessing from vectors to the input of a model, fitted to the training part."""
        return self._read().preprocessing

    def unseen(self) -> Vectors:
        """The held-out part of the files."""
        return replace(self, evaluating=True)

    def _spans(self) -> list[Span]:
        spans = held_out_spans if self.evaluating else training_spans
        return spans(self._read().clips, self.held_out)

    def _read(self) -> _Read:
        if not self.path:
            raise VPRError('no vectors: give path, such as path="features.npy"')
        return _read(replace(self, evaluating=False), os.getcwd())

    def files(self) -> list[Path]:
        """The files of vectors; files of frozen features are in the cache."""
        return self._extract(None) if self.features else _files(self.path)

    def _extract(self, on_progress: OnProgress | None) -> list[Path]:
        from vpr.features.extract import extract  # which imports from this package

        whole = os.path.lexists(self.path)
        pieces = find_footage([self.path] if whole else self.path.split(os.pathsep))
        paths, problems = list[Path](), list[VPRError]()
        for number, piece in enumerate(pieces):

            def report(done: int, total: int | None, number: int = number) -> None:
                if (
                    on_progress is not None
                ):  # as a share, because the number of frames may be unknown
                    share = min(done / total, 1) if total else 0
                    on_progress(round(100 * (number + share)), 100 * len(pieces))

            try:
                paths.append(extract(piece, self.features, self.rate, on_progress=report).path)
            except VPRError as error:
                problems.append(error)
        if not paths:
            raise problems[0]
        for problem in problems:
            log.warning("%s; it is left out", problem)
        return paths


class _Read(NamedTuple):
    """Files that were checked."""

    clips: list[Clip]
    preprocessing: Preprocessing

    def fill(self, window: NDArray[np.float32], rows: NDArray[Any]) -> None:
        window[:] = self.preprocessing(rows)


@lru_cache(maxsize=8)
def _read(vectors: Vectors, folder: str) -> _Read:
    """`folder` is the working directory, for relative paths."""
    files = vectors.files()
    size = _rows(files[0]).shape[1]
    for file in files:
        _check(file, size, files[0])
    clips = [Clip(file.absolute(), len(_rows(file))) for file in files]
    return _Read(clips, _preprocessing(vectors, training_spans(clips, vectors.held_out)))


def _preprocessing(vectors: Vectors, spans: Sequence[Span]) -> Preprocessing:
    if vectors.fitted:
        return Preprocessing.load(Path(vectors.fitted))
    frozen = bool(vectors.features)

    def chunks() -> Iterator[NDArray[Any]]:
        return map(unit_length, _chunks(spans)) if frozen else _chunks(spans)

    mean, scale = fit_standard(chunks)
    components = None
    if frozen or vectors.components:
        scale, components = fit_components(chunks, mean, vectors.frame[0])
    rate = as_rate(vectors.rate)
    return Preprocessing(mean, scale, components, vectors.features, rate, frozen)


def _files(path: str) -> list[Path]:
    place = Path(path)
    if place.is_dir():
        found = list(place.glob("*.npy"))
    elif place.exists():
        found = [place]
    elif glob.has_magic(path):
        found = [Path(each) for each in glob.glob(path, recursive=True)]
    else:
        raise VPRError(f"{path} does not exist")
    if not found:
        raise VPRError(f"{path} has no .npy files")
    return sorted(found, key=lambda file: (str(file.parent), natural(file)))


def _rows(file: Path) -> NDArray[Any]:
    """(T, F), mapped into memory."""
    try:
        rows = memory_mapped(file.absolute())
    except (OSError, ValueError, EOFError) as error:
        if file.suffix.lower() in VIDEOS - ARRAYS:
            raise VPRError(
                f"{file} is a video, not vectors: to train on video, use vpr train cpu/video, or "
                f"--data.features {next(iter(EXTRACTORS))}"
            ) from error
        raise VPRError(f"{file} cannot be read as a .npy file: save it with np.save") from error
    if not isinstance(rows, np.ndarray):
        raise VPRError(f"{file} has several arrays: save each one with np.save")
    if rows.ndim != 2 or 0 in rows.shape:
        raise VPRError(f"{file} has shape {rows.shape}: vectors over time need shape (T, F)")
    if rows.dtype.kind not in "fiub":
        raise VPRError(f"{file} has type {rows.dtype}: vectors need real numbers")
    return rows


def _check(file: Path, size: int, first: Path) -> None:
    rows = _rows(file)
    if rows.shape[1] != size:
        raise VPRError(f"{file} has {rows.shape[1]} features, {first} has {size}")
    for start in range(0, len(rows), ROWS):
        bad = ~np.isfinite(rows[start : start + ROWS]).all(1)
        if bad.any():
            where = start + int(bad.argmax())
            raise VPRError(f"{file} has NaN or infinite values in row {where}: replace or cut them")


def _chunks(spans: Sequence[Span]) -> Iterator[NDArray[Any]]:
    for span in spans:
        rows = memory_mapped(span.clip.path)[span.first : span.last]
        for start in range(0, len(rows), ROWS):
            yield rows[start : start + ROWS]
