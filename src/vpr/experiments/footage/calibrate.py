"""Fitting the probabilities of events to a film with known transitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vpr.experiments.footage.labelled_films import RATE, FilmFile, Span, inside
from vpr.segmenting.event_calibration import (
    Calibration,
    Floats,
    evidence,
    fit_logistic,
    non_maximum_suppression,
    with_bias,
)
from vpr.segmenting.timeline import Timeline


def calibrate(timeline: Timeline, film: FilmFile, held_out: float) -> Calibration:
    """A calibration for the model of a timeline of all events of a film.

    The highest level is fitted to transitions; lower levels, which also detect events within shots,
    are fitted to transitions and distractors. The weights are fitted to the whole film. The model
    was trained on its beginning, so scale and bias are then fitted to the `held_out` share at the
    end, for the events that remain after non-maximum suppression.
    """
    weights = {
        level: _weights(timeline, level, targets(film, level, timeline.levels), held_out)
        for level in timeline.reported_levels
    }
    return Calibration(weights)


def targets(film: FilmFile, level: int, levels: int) -> list[Span]:
    """What the events of a level are compared with."""
    if level == levels:
        return film.spans()
    inner = [(Fraction(d.first, RATE), Fraction(d.last, RATE)) for d in film.distractors]
    return sorted(film.spans() + inner)


def _weights(timeline: Timeline, level: int, true: Sequence[Span], held_out: float) -> Floats:
    events = timeline.events(level)
    times = np.array([float(event.time) for event in events])
    inputs = evidence(timeline.curves, level, [event.frame for event in events])
    weights = fit_logistic(inputs, np.array([inside(t, true) is not None for t in times]))
    scores = with_bias(inputs) @ weights
    start = float(timeline.end) * (1 - held_out)
    kept = non_maximum_suppression(times, scores, Calibration({}).gap) & (times >= start)
    scale, bias = fit_logistic(scores[kept, None], first_hits(times[kept], scores[kept], true))
    return np.append(scale * weights[:-1], scale * weights[-1] + bias)


def first_hits(times: Floats, scores: Floats, true: Sequence[Span]) -> NDArray[np.bool_]:
    """Which events are right: in each transition, the strongest one."""
    hits = np.zeros(len(times), dtype=bool)
    taken: set[int] = set()
    for place in np.argsort(-scores, kind="stable"):
        span = inside(float(times[place]), true)
        if span is not None and span not in taken:
            taken.add(span)
            hits[place] = True
    return hits
