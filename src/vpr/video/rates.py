"""Rates of footage that has none of its own, and times where a file leaves them out."""

from __future__ import annotations

from fractions import Fraction

from vpr.errors import VPRError

Rate = int | float | str | Fraction  # frames a second; text like "25" or "30000/1001"

USUAL = Fraction(25)  # for footage that does not say


def as_rate(rate: Rate | None) -> Fraction:
    """Frames a second, exactly; a float means the decimal number that it shows."""
    if rate is None:
        return USUAL
    try:
        exact = Fraction(str(rate))
    except (ValueError, ZeroDivisionError):
        raise VPRError(f"rate must be frames a second, as 25 or 30000/1001, got {rate}") from None
    if not 0 < exact <= 1_000_000:
        raise VPRError(f"rate must be above 0 and at most a million frames a second, got {rate}")
    return exact


class Clock:
    """Presentation times that always rise.

    A file's own times are taken as they are. Where one is missing, or not after the one before it,
    the frame counts as one frame later.
    """

    def __init__(self, time_base: Fraction, rate: Fraction) -> None:
        self.step = max(round(1 / (rate * time_base)), 1)
        self.last: int | None = None

    def __call__(self, pts: int | None) -> int:
        if self.last is None:
            self.last = pts if pts is not None else 0
        elif pts is None or pts <= self.last:
            self.last += self.step
        else:
            self.last = pts
        return self.last
