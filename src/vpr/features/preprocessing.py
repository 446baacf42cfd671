"""From features to the input of a model: centred, scaled and reduced to principal components."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.utils.files import read_tensors, write_tensors
from vpr.video.rates import as_rate

Rows = NDArray[Any]  # (T, F), real numbers
Floats = NDArray[np.float64]
Chunks = Callable[[], Iterable[Rows]]  # all training rows, in parts; it is called twice


@dataclass(frozen=True)
class Preprocessing:
    """(rows − mean) / scale, then a projection on `components` if there are any.

    With `unit_length`, each row is scaled to length 1 first: the length of image features depends
    on contrast more than on content. It is fitted to training data and stored with the model, so
    that the model can be applied to new data.
    """

    mean: Floats  # (F,)
    scale: Floats  # (F,), infinite where a feature is constant
    components: Floats | None = None  # (F, K)
    extractor: str = ""  # of the features; empty for vectors that the user gave
    rate: Fraction = field(default_factory=lambda: Fraction(25, 2))  # frames per second
    unit_length: bool = False

    @property
    def inputs(self) -> int:
        """F, the number of features."""
        return len(self.mean)

    @property
    def outputs(self) -> int:
        """K, the size of the model's input."""
        return self.inputs if self.components is None else self.components.shape[1]

    def __call__(self, rows: Rows) -> NDArray[np.float32]:
        """Features (T, F) → the input of the model (T, K).

        In double precision: the mean may be much larger than the variation.
        """
        if rows.ndim != 2 or rows.shape[1] != self.inputs:
            raise VPRError(
                f"this model needs vectors of {self.inputs} features, not {rows.shape[1:]}: give "
                "--model for these, or --adapt to train one"
            )
        scaled = self._scaled(rows)
        return (scaled if self.components is None else scaled @ self.components).astype(np.float32)

    def distance(self, rows: Rows) -> float:
        """The mean squared distance of rows (T, F) to the mean; about 1 for training data."""
        squares: Floats = np.square(self._scaled(rows)).sum(1)
        return float(squares.mean()) / self.outputs

    def _scaled(self, rows: Rows) -> Floats:
        scaled: Floats = (
            (unit_length(rows) if self.unit_length else rows) - self.mean
        ) / self.scale
        return scaled

    def save(self, path: Path) -> None:
        tensors = {"mean": self.mean, "scale": self.scale, "components": self.components}
        write_tensors(
            path,
            {name: torch.from_numpy(each) for name, each in tensors.items() if each is not None},
            {
                "extractor": self.extractor,
                "rate": str(self.rate),
                "unit_length": "yes" if self.unit_length else "no",
            },
        )

    @classmethod
    def load(cls, path: Path) -> Preprocessing:
        tensors, notes = read_tensors(path)
        mean, scale, components = (_array(tensors, n) for n in ("mean", "scale", "components"))
        if mean is None or scale is None or mean.shape != scale.shape or mean.ndim != 1:
            raise VPRError(f"{path} has no mean and scale of features: copy it again")
        if components is not None and components.shape[:1] != mean.shape:
            raise VPRError(f"{path} has components of other features: copy it again")
        if not np.isfinite(mean).all() or not (scale > 0).all():
            raise VPRError(f"{path} has values that are not finite: copy it again")
        return cls(
            mean,
            scale,
            components,
            notes.get("extractor", ""),
            as_rate(notes.get("rate")),
            notes.get("unit_length") == "yes",
        )


def unit_length(rows: Rows) -> Floats:
    """The rows (T, F), each scaled to length 1; zeros stay."""
    double = _double(rows)
    length = np.linalg.norm(double, axis=1, keepdims=True)
    scaled: Floats = double / np.where(length > 0, length, 1.0)
    return scaled


def fit_standard(chunks: Chunks) -> tuple[Floats, Floats]:
    """Mean and standard deviation (F,) of each feature; infinite for a constant feature."""
    statistics = [(len(p), p.sum(0), p.min(0), p.max(0)) for p in map(_double, chunks())]
    count, total, low, high = (np.stack(each) for each in zip(*statistics, strict=True))
    mean: Floats = total.sum(0) / count.sum()
    squares = sum(np.square(part - mean).sum(0) for part in map(_double, chunks()))
    std: Floats = np.sqrt(squares / count.sum())
    constant = low.min(0) == high.max(0)  # its computed deviation may be a little above 0
    std[constant | (std == 0)] = np.inf
    return mean, std


def fit_components(chunks: Chunks, mean: Floats, count: int) -> tuple[Floats, Floats]:
    """One scale (F,) for all features, and the first principal components (F, K).

    A common scale keeps the proportions of the features; with it, the components have a mean
    variance of 1.
    """
    covariance = sum((part - mean).T @ (part - mean) for part in map(_double, chunks()))
    rows = sum(len(part) for part in chunks())
    values, vectors = np.linalg.eigh(covariance / rows)
    if not 1 <= count <= len(mean):
        raise VPRError(f"components must be 1 to {len(mean)}, the number of features, got {count}")
    kept = np.argsort(values)[::-1][:count]
    scale = np.full(len(mean), max(float(np.sqrt(values[kept].mean())), np.finfo(float).tiny))
    return scale, np.ascontiguousarray(vectors[:, kept])


def _double(part: Rows) -> Floats:
    return np.asarray(part, dtype=np.float64)


def _array(tensors: dict[str, Tensor], name: str) -> Floats | None:
    return tensors[name].double().numpy() if name in tensors else None
