"""Tolerances: a time or a number of frames between a predicted and a true boundary."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, NamedTuple

from vpr.errors import VPRError

Scale = Literal["time", "frame"]  # the column to compare

UNITS: dict[str, tuple[Scale, Fraction]] = {
    "s": ("time", Fraction(1)),
    "ms": ("time", Fraction(1, 1000)),
    "f": ("frame", Fraction(1)),
}


class Tolerance(NamedTuple):
    """A tolerance with its exact value: 0.2 s is 1/5 s."""

    text: str
    scale: Scale
    value: Fraction

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """A plain number is in seconds."""
        text = text.strip()
        parts = re.fullmatch(r"(-?)(\d+\.?\d*|\.\d+)\s*(s|ms|f|)", text)
        if parts is None:
            kinds = "seconds like 0.2, a time like 0.2s or 200ms, or frames like 5f"
            raise VPRError(f"a tolerance must be {kinds}, got {text!r}")
        sign, digits, unit = parts.groups()
        if sign:
            raise VPRError(f"the tolerance must be 0 or more, got {text}")
        scale, size = UNITS[unit or "s"]
        return cls(text if unit else f"{text}s", scale, Fraction(digits) * size)


def parse_tolerances(text: str) -> list[Tolerance]:
    """Parse comma-separated tolerances, without duplicates."""
    return list(dict.fromkeys(Tolerance.parse(part) for part in text.split(",")))
