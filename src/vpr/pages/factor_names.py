"""Which factors a page shows: in every tooltip, once per sequence, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray


def single_factors(factors: Iterable[str]) -> list[str]:
    """Factors without their parts: `colour-1` is part of `colour`."""
    names = list(factors)
    return [name for name in names if name.rpartition("-")[0] not in names]


def readable_factors(factors: dict[str, NDArray[Any]]) -> list[str]:
    """Factors (T, ...) whose values can be written; positions, for example, cannot."""
    return [
        name
        for name in single_factors(factors)
        if factors[name].ndim == 1 or factors[name].dtype.kind in "iu"
    ]
