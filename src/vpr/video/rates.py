"""Frame rates as exact fractions."""

from __future__ import annotations

from fractions import Fraction

from vpr.errors import VPRError
from vpr.utils.fractions import bounded_fraction

Rate = int | float | str | Fraction  # frames per second; text like "25" or "30000/1001"

DEFAULT_RATE = Fraction(25)


def as_rate(rate: Rate | None) -> Fraction:
    """An exact rate; a float counts as its decimal representation."""
    if rate is None:
        return DEFAULT_RATE
    try:
        exact = bounded_fraction(str(rate))
    except (ValueError, ZeroDivisionError):
        raise VPRError(
            f"rate must be frames per second, like 25 or 30000/1001, got {rate}"
        ) from None
    if not 0 < exact <= 1_000_000:
        raise VPRError(f"rate must be above 0 and at most 1000000 frames per second, got {rate}")
    return exact
