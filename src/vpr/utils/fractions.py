"""Exact numbers from text."""

from __future__ import annotations

import re
from fractions import Fraction

MAX_CHARACTERS = 100
EXPONENT = re.compile(r"[eE][-+]?0*\d{4}")


def bounded_fraction(text: str) -> Fraction:
    """Like `Fraction`; 1e999999999, which would take all memory, is a ValueError."""
    if len(text) > MAX_CHARACTERS or EXPONENT.search(text.replace("_", "")):
        raise ValueError("the number is too long")
    return Fraction(text)
