"""Lengths of events, estimated from sequences that begin and end within events.

Events that lie completely within a sequence are shorter than average. Therefore every event counts
whose start was observed; if the sequence ends first, the event is only known to be longer. The
Kaplan–Meier estimator uses both kinds: h(l) is the share of events observed at age l that end at
this age, and S(l) = Π (1 − h(k)) up to l is the share of events that are longer.

If the longest events were all cut off, S does not reach 0 and Σ S(l) is too small, especially for
short sequences. For the mean, such events then end at the overall rate: ended events per observed
frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.evaluation.scores import Marks


class EventLengths(NamedTuple):
    """Distribution of the lengths of events, in frames."""

    longer: list[float]  # S(0) = 1, S(1), …: the share that lasts longer than l frames
    mean: float  # Σ S(l), extrapolated beyond the longest; a lower bound if no event ended
    events: int  # observed from start to end
    cut: int  # cut off by the end of the sequence


def event_lengths(boundary: Marks) -> EventLengths:
    """Lengths of the events that start at a mark, without the first event of each sequence."""
    whole, cut = _observed(boundary)
    longest = boundary.shape[1]
    ended = np.bincount(whole, minlength=longest)
    gone = ended + np.bincount(cut, minlength=longest)  # not observed after age l
    observed = gone[::-1].cumsum()[::-1]  # at age l
    observed = observed[: int(np.flatnonzero(observed).max(initial=0)) + 1]
    stays = 1 - ended[: len(observed)] / np.maximum(observed, 1)
    longer = np.cumprod(stays)
    beyond = longer[-1] * int(gone @ np.arange(longest)) / len(whole) if len(whole) else 0.0
    return EventLengths(longer.tolist(), float(longer[:-1].sum() + beyond), len(whole), len(cut))


def earth_movers_distance(a: EventLengths, b: EventLengths) -> float:
    """Σ |S_a − S_b|, the earth mover's distance in frames, over the lengths known for both."""
    size = max(len(a.longer), len(b.longer))
    known = min(len(each.longer) if each.longer[-1] else size for each in (a, b))
    first, second = (np.pad(each.longer, (0, size - len(each.longer))) for each in (a, b))
    return float(np.abs(first - second)[:known].sum())


def _observed(boundary: Marks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lengths of complete events, and observed lengths of those cut off."""
    end = boundary.shape[1] - 1
    whole, cut = [], []
    for row in boundary:
        begun = np.flatnonzero(row[1:]) + 1
        whole.append(np.diff(begun))
        cut.append(end - begun[-1:])
    return np.concatenate(whole), np.concatenate(cut)
