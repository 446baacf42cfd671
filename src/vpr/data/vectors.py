"""User feature vectors from `.npy` files, as a dataset without labels."""

from __future__ import annotations

import glob
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
from vpr.utils.config_fields import option
from vpr.video.image_folder import natural

ROWS = 4096  # per read, for the mean and the standard deviation

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Vectors:
    """Windows of sequences of feature vectors, without labels.

    Each file is one sequence (T, F): T vectors of F features. Every feature is standardised with
    its mean and standard deviation in the part for training; a feature that is constant there is 0.
    Training never reads the held-out part.
    """

    name: ClassVar[str] = "vectors"

    path: str = option(
        "", "A .npy file (T, F), a folder of such files, or a glob (in quotes).", local=True
    )
    held_out: float = option(0.1, "Share of the vectors that is held out for evaluation.")
    evaluating: bool = option(False, "Use the held-out part.", flag=False)

    def __post_init__(self) -> None:
        if not 0.01 <= self.held_out <= 0.5:
            raise VPRError(f"vectors need a held_out share from 0.01 to 0.5, got {self.held_out}")

    @property
    def frame(self) -> tuple[int, ...]:
        """(F,), from the header of the first file; (1,) without a path."""
        return _rows(_files(self.path)[0]).shape[1:] if self.path else (1,)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` random windows of `length` vectors."""
        read = self._read()
        return Batch(draw_windows(self._spans(), (1,), (count, length), rng, read.fill), {}, {})

    def longest(self) -> int:
        """Vectors of the longest sequence."""
        return longest_window(self._spans(), (1,))

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Check all values, and compute the mean and standard deviation of the features."""
        self._read()

    def unseen(self) -> Vectors:
        """The held-out part of the files."""
        return replace(self, evaluating=True)

    def _spans(self) -> list[Span]:
        spans = held_out_spans if self.evaluating else training_spans
        return spans(self._read().clips, self.held_out)

    def _read(self) -> _Read:
        if not self.path:
            raise VPRError("give vectors with --path features.npy (vpr train: --data.path)")
        return _read(self.path, os.getcwd(), self.held_out)


class _Read(NamedTuple):
    """Files that were checked."""

    clips: list[Clip]
    mean: Floats  # (F,)
    std: Floats  # (F,), infinite where a feature is constant

    def fill(self, window: NDArray[np.float32], rows: NDArray[Any]) -> None:
        """Standardise in double precision: the mean may be much larger than the variation."""
        window[:] = (rows - self.mean) / self.std


@lru_cache(maxsize=8)
def _read(path: str, folder: str, held_out: float) -> _Read:
    """`folder` is the working directory, for relative paths."""
    files = _files(path)
    size = _rows(files[0]).shape[1]
    for file in files:
        _check(file, size, files[0])
    clips = [Clip(file.absolute(), len(_rows(file))) for file in files]
    return _Read(clips, *_moments(training_spans(clips, held_out)))


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
    """(T, F), memory_mapped into memory."""
    try:
        rows = memory_mapped(file.absolute())
    except (OSError, ValueError, EOFError) as error:
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


def _moments(spans: Sequence[Span]) -> tuple[Floats, Floats]:
    """Mean and standard deviation (F,) of each feature."""
    count = sum(span.last - span.first for span in spans)
    statistics = [(part.sum(0), part.min(0), part.max(0)) for part in _chunks(spans)]
    total, low, high = (np.stack(each) for each in zip(*statistics, strict=True))
    mean: Floats = total.sum(0) / count
    std: Floats = np.sqrt(sum(np.square(part - mean).sum(0) for part in _chunks(spans)) / count)
    constant = low.min(0) == high.max(0)  # its computed deviation may be a little above 0
    std[constant | (std == 0)] = np.inf
    return mean, std


def _chunks(spans: Sequence[Span]) -> Iterator[Floats]:
    for span in spans:
        rows = memory_mapped(span.clip.path)[span.first : span.last]
        for start in range(0, len(rows), ROWS):
            yield np.asarray(rows[start : start + ROWS], dtype=np.float64)
