"""Decoded footage in the cache: one `.npy` file of bytes (frames, C, H, W) per piece."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.base import OnProgress
from vpr.data.recording import write_parts
from vpr.errors import VPRError
from vpr.utils.files import error_reason
from vpr.utils.printable import printable
from vpr.video.finding import images_in
from vpr.video.fit import Fit
from vpr.video.frames import Source
from vpr.video.opening import open_footage

VERSION = 1  # raise it when decoding changes

log = logging.getLogger("vpr")


class Clip(NamedTuple):
    """A decoded piece of footage."""

    path: Path  # in the cache
    frames: int


class UnreadableError(VPRError):
    """The footage is damaged, not the cache."""


@dataclass(frozen=True)
class Decoder:
    """Decodes footage into the cache; complete files stay if decoding is interrupted."""

    folder: Path
    fit: Fit

    def decode(self, pieces: list[str], on_progress: OnProgress | None = None) -> list[Clip]:
        """All pieces in order; damaged ones are reported and skipped."""
        reasons: list[str] = []
        paths = dict(self._paths(pieces, reasons))
        missing = {piece: path for piece, path in paths.items() if not _found(path)}
        done = 0
        for number, (piece, path) in enumerate(missing.items()):
            progress = _Progress(on_progress, done, number, len(missing) - number - 1)
            try:
                self._decode_one(piece, path, progress)
            except UnreadableError as error:
                reasons.append(str(error))
            done = progress.done
        if on_progress is not None and done:
            on_progress(done, done)  # now the total is known
        return _readable([clip for path in paths.values() for clip in _found(path)], reasons)

    def _paths(self, pieces: list[str], reasons: list[str]) -> Iterator[tuple[str, Path]]:
        for piece in pieces:
            try:
                yield piece, self._path(piece)
            except FileNotFoundError:
                reasons.append(f"{piece} does not exist")
            except OSError as error:
                reasons.append(f"{piece} cannot be read: {error_reason(error)}")

    def _decode_one(self, piece: str, path: Path, progress: _Progress) -> None:
        """Decode a piece into its file."""
        try:
            source = open_footage(piece, fit=self.fit)
        except VPRError as error:
            raise UnreadableError(str(error)) from error
        shape = self.fit.channels, self.fit.height, self.fit.width
        write_parts(path, np.dtype(np.uint8), shape, _frames(source, progress))
        if source.problem:
            log.warning(printable(source.problem))

    def _path(self, piece: str) -> Path:
        """The cache file of a piece; its name is a hash of everything that affects its pictures."""
        place = Path(piece)
        files = images_in(place) if place.is_dir() else [place]
        stats = [(each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in files]
        inputs = [VERSION, str(place.absolute()), stats, vars(self.fit)]
        key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]
        return self.folder / f"{key}.npy"


def _found(path: Path) -> list[Clip]:
    try:
        return [Clip(path, len(memory_mapped(path)))] if path.exists() else []
    except (OSError, ValueError):
        return []


def _readable(clips: list[Clip], reasons: list[str]) -> list[Clip]:
    if not clips:
        raise VPRError(reasons[0] if reasons else "there is no footage")
    for reason in reasons:
        log.warning("left out: %s", printable(reason))
    return clips


class _Progress:
    """Progress in frames, with an estimate of the total."""

    def __init__(self, on_progress: OnProgress | None, done: int, pieces: int, ahead: int) -> None:
        self.on_progress, self.done = on_progress, done
        self.before, self.pieces, self.ahead = done, pieces, ahead

    def __call__(self, expected: int | None) -> None:
        self.done += 1
        if self.on_progress is not None:
            here = max(expected or 0, self.done - self.before)
            mean = (self.before + here) / (self.pieces + 1)
            self.on_progress(self.done, self.before + here + round(self.ahead * mean))


def _frames(source: Source, progress: _Progress) -> Iterator[NDArray[np.uint8]]:
    """The pictures as (C, H, W)."""
    try:
        for frame in source:
            yield frame.picture.transpose(2, 0, 1)
            progress(source.expected)
    except VPRError as error:
        raise UnreadableError(str(error)) from error


@lru_cache(maxsize=256)  # each entry keeps a file open; the usual limit is about a thousand
def memory_mapped(path: Path) -> NDArray[Any]:
    frames: NDArray[Any] = np.load(path, mmap_mode="r")
    return frames
