"""Features of footage, computed once and kept in the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.data.recording import write_parts
from vpr.errors import VPRError
from vpr.features.extractor import Extractor, load_extractor, picture_size
from vpr.utils.cache_folder import cache_folder
from vpr.video.fit import Fit, Mode
from vpr.video.frames import Frame, Source
from vpr.video.opening import open_footage
from vpr.video.rates import Rate, as_rate

VERSION = 1  # raise it when extraction changes
CHUNK = 16  # frames per call of the extractor
DEFAULT_RATE = Fraction(25, 2)  # frames per second
FIT: Mode = "stretch"  # bars of a letterbox would be features too

OnFrames = Callable[[int, int | None], None]  # frames read, frames expected if known


class Extracted(NamedTuple):
    """Features of a piece of footage in the cache."""

    path: Path  # (T, F), 16-bit floats
    times: Path  # (T,) seconds


def extract(
    footage: str | Path,
    features: str | Extractor = "efficientnet-lite0",
    rate: Rate = DEFAULT_RATE,
    *,
    folder: Path | None = None,
    on_progress: OnFrames | None = None,
) -> Extracted:
    """Compute the features of a video, a folder of pictures or an array; once, in constant memory.

    Args:
        footage: Anything `vpr.video.open_footage` opens that is a file or folder.
        features: The name of an extractor, or any callable from pictures (T, H, W, 3) to (T, F). A
            callable needs a `folder`, because the cache cannot distinguish it from others.
        rate: Frames per second; other frames are skipped.
        folder: Where to keep the features. The default is the user cache.
        on_progress: Called with the number of frames that were read.
    """
    if not isinstance(features, str) and folder is None:
        raise VPRError(
            "an extractor of your own needs a folder that is used for no other extractor"
        )
    extractor = load_extractor(features) if isinstance(features, str) else features
    name = features if isinstance(features, str) else "own"
    exact = as_rate(rate)
    stem = (folder or cache_folder() / "features") / _key(Path(footage), name, exact)
    extracted = Extracted(stem.with_suffix(".npy"), stem.with_suffix(".times.npy"))
    if not (extracted.path.exists() and extracted.times.exists()):
        _extract(footage, extractor, exact, extracted, on_progress)
    return extracted


def _extract(
    footage: str | Path,
    extractor: Extractor,
    rate: Fraction,
    extracted: Extracted,
    on_progress: OnFrames | None,
) -> None:
    source = AtRate(open_footage(footage, fit=Fit(*picture_size(extractor), 3, FIT)), rate)
    frames, times = iter(source), list[float]()

    def rows() -> Iterator[NDArray[Any]]:
        while chunk := [(each.picture, float(each.time)) for each in islice(frames, CHUNK)]:
            times.extend(time for _, time in chunk)
            yield from extract_features(extractor, np.stack([picture for picture, _ in chunk]))
            if on_progress is not None:
                on_progress(source.read, source.expected)

    parts = rows()
    first = next(parts, None)
    if first is None:
        raise VPRError(f"{footage} has no frames")
    write_parts(extracted.path, first.dtype, first.shape, _chain(first, parts))
    write_parts(extracted.times, np.dtype(np.float64), (), map(np.float64, times))  # type: ignore[arg-type]


def extract_features(extractor: Extractor, pictures: NDArray[np.uint8]) -> NDArray[np.float16]:
    """The features of some pictures, (T, F)."""
    found = np.asarray(extractor(pictures))
    if found.ndim != 2 or len(found) != len(pictures):
        raise VPRError(
            f"an extractor must return (T, F) for {len(pictures)} pictures, not {found.shape}"
        )
    halves = found.astype(np.float16)
    if not np.isfinite(halves).all():
        raise VPRError("an extractor must return finite numbers below 65,504")
    return halves


def _chain(first: NDArray[Any], rest: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    yield first
    yield from rest


def _key(footage: Path, features: str, rate: Fraction) -> str:
    """A hash of everything that the features depend on."""
    if not footage.exists():
        raise VPRError(f"{footage} does not exist")
    files = sorted(footage.iterdir()) if footage.is_dir() else [footage]
    stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    inputs = [VERSION, str(footage.absolute()), stats, features, str(rate)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


class AtRate:
    """At most `rate` frames per second of a source, with their own exact times.

    Of each interval of 1/rate seconds, the first frame is kept. Footage with fewer frames per
    second keeps all of them.
    """

    def __init__(self, source: Source, rate: Fraction) -> None:
        self.source, self.rate = source, rate
        self.name = source.name
        self.read = 0  # frames of the source

    @property
    def expected(self) -> int | None:
        """The number of frames of the source; skipped frames are read too."""
        return self.source.expected

    @property
    def problem(self) -> str | None:
        return self.source.problem

    @property
    def undecodable(self) -> int:
        return self.source.undecodable

    def __iter__(self) -> Iterator[Frame]:
        start: Fraction | None = None
        interval = -1
        self.read = 0
        for frame in self.source:
            self.read += 1
            start = frame.time if start is None else start
            now = int((frame.time - start) * self.rate)
            if now > interval:
                interval = now
                yield frame
