"""Fitting the probabilities of events to films with known transitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vpr.experiments.footage.labelled_films import RATE, FilmFile, Span, inside
from vpr.segmenting.event_calibration import (
    GAP,
    Calibration,
    Floats,
    evidence,
    fit_logistic,
    logistic,
    non_maximum_suppression,
    with_bias,
)


class Candidates(NamedTuple):
    """Events that may be transitions: their times and frames, and the changes of the input."""

    times: Floats  # (events,) seconds
    frames: Sequence[int]
    changes: Floats  # (frames of the film, spans)

    def scores(self, weights: Floats) -> Floats:
        """The logarithms of the odds, (events,)."""
        return with_bias(evidence(self.changes, self.frames)) @ weights

    def probabilities(self, weights: Floats) -> Floats:
        return logistic(self.scores(weights))


def fit_weights(
    training: Candidates, true: Sequence[Span], other: Candidates, other_true: Sequence[Span]
) -> Floats:
    """Weights of the regression for candidates of a training film and of another film.

    The weights are fitted to the training film. Scale and bias are then fitted to the film of other
    clips, for the events that remain after non-maximum suppression.
    """
    inputs = evidence(training.changes, training.frames)
    weights = fit_logistic(inputs, np.array([inside(t, true) is not None for t in training.times]))
    scores = other.scores(weights)
    kept = non_maximum_suppression(other.times, scores, GAP)
    hits = first_hits(other.times[kept], scores[kept], other_true)
    scale, bias = fit_logistic(scores[kept, None], hits)
    return np.append(scale * weights[:-1], scale * weights[-1] + bias)


def calibrate(
    training: dict[int, Candidates],
    film: FilmFile,
    other: dict[int, Candidates],
    other_film: FilmFile,
) -> Calibration:
    """The calibration of a model, from its events of each level in two films; see `fit_weights`."""
    top = max(training)
    return Calibration(
        {
            level: fit_weights(
                training[level],
                targets(film, level, top),
                other[level],
                targets(other_film, level, top),
            )
            for level in training
        }
    )


def targets(film: FilmFile, level: int, top: int) -> list[Span]:
    """What the events of a level are compared with.

    The highest level is fitted to transitions; lower levels, which also detect events within shots,
    to transitions and distractors.
    """
    if level == top:
        return film.spans()
    inner = [(Fraction(d.first, RATE), Fraction(d.last, RATE)) for d in film.distractors]
    return sorted(film.spans() + inner)


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
