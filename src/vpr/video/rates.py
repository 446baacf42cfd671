"""Frame rates, and times of frames that have none."""

from __future__ import annotations

from fractions import Fraction

from vpr.errors import VPRError

Rate = int | float | str | Fraction  # frames per second; text like "25" or "30000/1001"

DEFAULT_RATE = Fraction(25)


def as_rate(rate: Rate | None) -> Fraction:
    """An exact rate; a float counts as its decimal representation."""
    if rate is None:
        return DEFAULT_RATE
    try:
        exact = Fraction(str(rate))
    except (ValueError, ZeroDivisionError):
        raise VPRError(
            f"rate must be frames per second, like 25 or 30000/1001, got {rate}"
        ) from None
    if not 0 < exact <= 1_000_000:
        raise VPRError(f"rate must be above 0 and at most 1000000 frames per second, got {rate}")
    return exact


class Clock:
    """Makes presentation times increase.

    A time that is missing, or not later than the one before, is replaced by one frame later.
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
