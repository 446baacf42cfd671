"""Convert footage to the input of a model: pixels, frozen features, or vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.features.extract import FIT, AtRate, extract_features
from vpr.features.extractor import load_extractor, picture_size
from vpr.model import VPR
from vpr.pretrained import preprocessing_of
from vpr.video import Fit, Frame, Picture, Source, open_footage
from vpr.video.fit import Mode
from vpr.video.rates import Rate, as_rate
from vpr.video.vector_rows import VectorRows, is_vectors

Footage = str | os.PathLike[str] | NDArray[Any] | Source | Iterable[Frame]


class ModelInput:
    """Opens footage for a model, and converts its frames to the model's input.

    A model of images takes pixels in [0, 1]. A model of frozen features takes pictures, from which
    it computes features at its own rate, or the features themselves. A model of other vectors takes
    vectors. Features and vectors go through the model's preprocessing.
    """

    def __init__(self, model: VPR, mode: Mode = "letterbox") -> None:
        self.device, self.dtype = model.device, model.dtype
        self.frame, self.preprocessing = model.config.frame, preprocessing_of(model)
        self.extractor = None
        self.fit: Fit | None = None
        if self.preprocessing is not None and self.preprocessing.extractor:
            self.extractor = load_extractor(self.preprocessing.extractor)
            self.fit = Fit(*picture_size(self.extractor), 3, FIT)
        elif len(self.frame) == 3:
            self.fit = Fit.to(self.frame, mode)

    def open(self, what: Footage, rate: Rate | None = None, **how: Any) -> Source:
        """The footage as frames of the model's size, at the model's rate if it has one.

        `rate` applies to footage without times; `how` are further arguments of `open_footage`.
        """
        if len(self.frame) == 1 and is_vectors(what):
            assert isinstance(what, str | os.PathLike | np.ndarray)
            own = self.preprocessing.rate if self.extractor and self.preprocessing else None
            return VectorRows(what, as_rate(rate if rate is not None else own))
        if self.fit is None and isinstance(what, str | os.PathLike) and not os.path.exists(what):
            raise VPRError(f"{os.fspath(what)} does not exist: check the path")
        source = _as_source(what, self.picture_fit(), rate, **how)
        if self.extractor is None or self.preprocessing is None:
            return source
        return AtRate(source, self.preprocessing.rate)

    def picture_fit(self) -> Fit:
        """The size of the pictures; an error for a model that needs vectors."""
        if self.fit is None:
            raise VPRError(f"this model needs vectors {self.frame}, not pictures: give a .npy file")
        return self.fit

    def fitted(self, picture: Picture) -> Picture:
        """The picture in the model's size, which footage opened by `open` already has."""
        fit = self.fit
        if fit is None or picture.ndim == 1:
            return picture
        same = picture.shape == (fit.height, fit.width, fit.channels)
        return picture if same else fit(picture)

    def __call__(self, pictures: Sequence[Picture]) -> Tensor:
        """K fitted pictures (H, W, C), or vectors (F,) → (K, *frame)."""
        return self.scaled(self.rows(pictures))

    def rows(self, pictures: Sequence[Picture]) -> NDArray[Any]:
        """Stack K pictures (K, H, W, C) or vectors (K, F), or compute the features of pictures."""
        stacked: NDArray[Any] = np.stack(pictures)
        if stacked.ndim == 4 and self.extractor is not None:
            stacked = extract_features(self.extractor, stacked)
        return stacked

    def scaled(self, rows: NDArray[Any]) -> Tensor:
        """Pixels in [0, 1], or vectors after preprocessing: (K, *frame)."""
        if len(self.frame) == 3:
            pixels = torch.from_numpy(rows).to(self.device, self.dtype)
            return pixels.div_(255).movedim(-1, 1)
        if self.preprocessing is not None:
            rows = self.preprocessing(rows)
        if rows.shape[1:] != self.frame:
            raise VPRError(f"this model needs vectors {self.frame}, not {rows.shape[1:]}")
        return torch.from_numpy(rows).to(self.device, self.dtype)


def _as_source(what: Footage, fit: Fit, rate: Rate | None, **how: Any) -> Source:
    if isinstance(what, str | os.PathLike | np.ndarray):
        return open_footage(what, fit=fit, rate=rate, **how)
    if hasattr(what, "name") and hasattr(what, "expected"):
        return what  # type: ignore[return-value]
    if isinstance(what, Iterable):
        return IterableSource(what)
    raise VPRError(f"footage must be a path, an array or frames, not {type(what).__name__}")


@dataclass
class IterableSource:
    """An iterable of frames as a source."""

    frames: Iterable[Frame]
    name: str = "frames"
    expected: int | None = None
    problem: str | None = None
    undecodable: int = 0

    def __iter__(self) -> Iterator[Frame]:
        for frame in self.frames:
            if not isinstance(frame, Frame):
                raise VPRError(f"frames must be vpr.video.Frame, not {type(frame).__name__}")
            yield frame
