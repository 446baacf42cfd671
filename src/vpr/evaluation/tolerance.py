"""How far apart a boundary and the true one may be: a time, or a number of frames."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, NamedTuple

from vpr.errors import VPRError

Scale = Literal["time", "frame"]  # the column that is compared

UNITS: dict[str, tuple[Scale, Fraction]] = {
    "s": ("time", Fraction(1)),
    "ms": ("time", Fraction(1, 1000)),
    "f": ("frame", Fraction(1)),
}


class Tolerance(NamedTuple):
    """Exactly as it was written: 0.2 s is one fifth of a second."""

    text: str
    scale: Scale
    value: Fraction

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        text = text.strip()
        parts = re.fullmatch(r"(-?)(\d+\.?\d*|\.\d+)\s*(s|ms|f)", text)
        if parts is None:
            raise VPRError(
                f"a tolerance is a time like 0.2s or 200ms, or frames like 5f: not {text!r}"
            )
        sign, digits, unit = parts.groups()
        if sign:
            raise VPRError(f"a tolerance cannot be negative, got {text}")
        scale, size = UNITS[unit]
        return cls(text, scale, Fraction(digits) * size)


def parse_tolerances(text: str) -> list[Tolerance]:
    """Several with commas between, each once."""
    return list(dict.fromkeys(Tolerance.parse(part) for part in text.split(",")))
