"""How long events last, measured on sequences that are cut off at both ends.

Of the events that lie whole within a sequence the long ones are too few: they seldom fit in. So
we take every event whose beginning was seen, and where a sequence ends before its event does, we
only know that it lasts longer. Kaplan and Meier's estimate uses both: of all events that were
watched at age l, the share h(l) that ended then; S(l) = Π (1 − h(k)) up to l lasts longer.

Where the longest events were all cut off, S does not come down to 0 and Σ S(l) is too small, by the
more the shorter the sequences are. So that means of long and short sequences can be compared, those
events go on in the mean: they end at the rate of all, ended events over frames watched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.evaluation.scores import Marks


class Lengths(NamedTuple):
    """Distribution of the lengths of events, in frames."""

    longer: list[float]  # S(0) = 1, S(1), …: the share that lasts longer than l frames
    mean: float  # Σ S(l), completed beyond the longest; a lower bound if no event ended
    events: int  # seen from beginning to end
    cut: int  # seen to begin, cut off by the end of the sequence


def lengths(boundary: Marks) -> Lengths:
    """Of the events that begin at a mark; what a sequence opens with has begun earlier."""
    whole, cut = _watched(boundary)
    longest = boundary.shape[1]
    ended = np.bincount(whole, minlength=longest)
    gone = ended + np.bincount(cut, minlength=longest)  # no longer watched after age l
    watched = gone[::-1].cumsum()[::-1]  # at age l
    watched = watched[: int(np.flatnonzero(watched).max(initial=0)) + 1]
    stays = 1 - ended[: len(watched)] / np.maximum(watched, 1)
    longer = np.cumprod(stays)
    beyond = longer[-1] * int(gone @ np.arange(longest)) / len(whole) if len(whole) else 0.0
    return Lengths(longer.tolist(), float(longer[:-1].sum() + beyond), len(whole), len(cut))


def distance(a: Lengths, b: Lengths) -> float:
    """Σ |S_a − S_b|: how many frames an event must be moved to turn one into the other.

    As far as both are known: to where the last event was cut off, or without end if none was.
    """
    size = max(len(a.longer), len(b.longer))
    known = min(len(each.longer) if each.longer[-1] else size for each in (a, b))
    first, second = (np.pad(each.longer, (0, size - len(each.longer))) for each in (a, b))
    return float(np.abs(first - second)[:known].sum())


def _watched(boundary: Marks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lengths of whole events, and for how many frames those cut off were seen to last."""
    end = boundary.shape[1] - 1
    whole, cut = [], []
    for row in boundary:
        begun = np.flatnonzero(row[1:]) + 1
        whole.append(np.diff(begun))
        cut.append(end - begun[-1:])
    return np.concatenate(whole), np.concatenate(cut)
