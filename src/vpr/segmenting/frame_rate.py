"""The frame rate of footage, for formats that count frames instead of seconds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from vpr.segmenting.timeline import Timeline

NTSC = Fraction(1000, 1001)  # 30 frames per second are 30000/1001 in NTSC
CLOSE = Fraction(2, 10_000)  # containers with times in milliseconds are not exact
JITTER = 0.0025  # seconds


def frame_rate(timeline: Timeline) -> Fraction:
    """Frames per second; a variable rate is rounded to a whole number, and 25 if unknown."""
    length = timeline.end - timeline.start
    if timeline.frames < 2 or length <= 0:
        return Fraction(25)
    mean = timeline.frames / length
    whole = Fraction(max(round(mean), 1))
    for rate in (whole, whole * NTSC):
        if abs(mean / rate - 1) < CLOSE:
            return rate
    constant = float(np.ptp(np.diff(timeline.times))) < JITTER
    return mean.limit_denominator(1001) if constant else whole
