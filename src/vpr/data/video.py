"""User footage as a dataset: decoded once, then cut into sequences; without labels."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from vpr.data.base import Batch, OnProgress
from vpr.data.clips import Clip, Decoder
from vpr.data.windows import Span, draw_windows, held_out_spans, longest_window, training_spans
from vpr.errors import VPRError
from vpr.utils.cache_folder import cache_folder
from vpr.utils.config_fields import option
from vpr.video.finding import find_footage
from vpr.video.fit import Fit


@dataclass(frozen=True)
class Video:
    """Sequences of footage without labels, each at one of the strides.

    Every piece of footage is decoded once, at the size of the model's frames, into a file of the
    cache. Training never reads the held-out part.
    """

    name: ClassVar[str] = "video"

    path: str = option(
        "",
        f"Files, folders or globs (in quotes), several with {os.pathsep!r} between them.",
        local=True,
    )
    size: tuple[int, ...] = option((64, 64), "Height and width of a frame, multiples of 16.")
    grey: bool = option(False, "Frames of one channel instead of three.")
    fit: Literal["stretch", "letterbox", "crop"] = option(
        "stretch", "How to fit other proportions: see docs/how-to/read-video.md."
    )
    strides: tuple[int, ...] = option(
        (1,), "Steps in frames of the footage; each sequence has one of them."
    )
    held_out: float = option(0.1, "Share of the footage that is held out for evaluation.")
    cache: str = option("", "Folder for the decoded frames; empty for the user cache.", local=True)
    evaluating: bool = option(False, "Use the held-out part.", flag=False)

    def __post_init__(self) -> None:
        for field in ("size", "strides"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        rules = {
            "a size of two numbers, height and width": len(self.size) == 2 and min(self.size) >= 1,
            "strides of 1 frame or more": bool(self.strides) and min(self.strides) >= 1,
            "a held_out share from 0.01 to 0.5": 0.01 <= self.held_out <= 0.5,
        }
        for rule, holds in rules.items():
            if not holds:
                raise VPRError(f"video needs {rule}, got {self}")
        self._fit()

    @property
    def frame(self) -> tuple[int, ...]:
        return (1 if self.grey else 3, *self.size)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        """`count` random windows of `length` frames."""
        return Batch(draw_windows(self._spans(), self.strides, (count, length), rng), {}, {})

    def prepare(self, on_progress: OnProgress | None = None) -> None:
        """Decode footage that is not in the cache."""
        _DECODED[self._key()] = self._decoder().decode(self._pieces(), on_progress)

    def unseen(self) -> Video:
        """The held-out part of the footage."""
        return replace(self, evaluating=True)

    def max_length(self) -> int:
        """The largest possible number of frames in a sequence."""
        return longest_window(self._spans(), self.strides)

    def _spans(self) -> list[Span]:
        if self._key() not in _DECODED:
            self.prepare()
        spans = held_out_spans if self.evaluating else training_spans
        return spans(_DECODED[self._key()], self.held_out)

    def _pieces(self) -> list[str]:
        if not self.path:
            raise VPRError('no footage: give path, such as path="footage/*.mp4"')
        whole = os.path.lexists(self.path)
        return find_footage([self.path] if whole else self.path.split(os.pathsep))

    def _fit(self) -> Fit:
        return Fit.to(self.frame, self.fit)

    def _decoder(self) -> Decoder:
        folder = Path(self.cache) if self.cache else cache_folder() / "video"
        return Decoder(folder, self._fit())

    def _key(self) -> tuple[str, str, Decoder]:
        return self.path, os.getcwd(), self._decoder()


_DECODED: dict[tuple[str, str, Decoder], list[Clip]] = {}  # by this process
