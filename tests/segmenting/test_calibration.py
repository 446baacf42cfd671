"""Probabilities of events: fitting, selecting, storing."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.segmenting.made import event, timeline
from vpr.cli.options import seconds
from vpr.errors import VPRError
from vpr.experiments.footage.calibrate import first_hits
from vpr.experiments.footage.labelled_films import tally
from vpr.segmenting.event_calibration import (
    Calibration,
    evidence,
    fit_logistic,
    logistic,
    non_maximum_suppression,
    with_bias,
)
from vpr.segmenting.selection import Selection, select_events
from vpr.segmenting.timeline import Curves, Timeline

EVENTS = [event(frame, level) for frame in range(10, 90, 10) for level in (2, 3)]


def calibration(made: Timeline, levels: tuple[int, ...] = (2, 3)) -> Calibration:
    """Random weights, so that probabilities differ."""
    rng = np.random.default_rng(1)
    sizes = {n: evidence(made.curves, n, [5]).shape[1] + 1 for n in levels}
    return Calibration({n: rng.normal(size=size) for n, size in sizes.items()}, gap=0.1)


def test_logistic_regression_recovers_probabilities() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(3, 2, size=(20_000, 3))
    true = np.array([1.0, -0.5, 0.0, -1.0])
    p = logistic(with_bias(inputs) @ true)
    found = logistic(with_bias(inputs) @ fit_logistic(inputs, rng.random(len(p)) < p))
    assert np.abs(found - p).mean() < 0.01


def test_separable_outcomes_give_finite_weights() -> None:
    inputs = np.linspace(-1, 1, 50)[:, None]
    weights = fit_logistic(inputs, inputs[:, 0] > 0)
    assert np.isfinite(weights).all()
    assert weights[0] > 1


def test_evidence_is_finite_also_where_levels_were_not_evaluated() -> None:
    made = timeline(EVENTS)
    for level in (2, 3):
        assert np.isfinite(evidence(made.curves, level, [0, 3, 99])).all()


def test_evidence_does_not_depend_on_frames_far_away() -> None:
    made = timeline(EVENTS, frames=200)
    st, ch, threshold = made.curves[2]
    changed = st.copy()
    changed[100:] = 50
    curves = {2: Curves(changed, ch, threshold)}
    assert (evidence(curves, 2, [60]) == evidence(made.curves, 2, [60])).all()


def test_without_calibration_all_events_are_reported() -> None:
    made = timeline(EVENTS)
    assert select_events(made, [2, 3], Fraction(0), Selection(), None).boundaries == made.boundaries


@pytest.mark.parametrize("least", [0.2, 0.5, 0.9])
def test_likely_events_are_reported_and_levels_stay_nested(least: float) -> None:
    made = timeline(EVENTS)
    found = select_events(
        made, [2, 3], Fraction(0), Selection(probability=least), calibration(made)
    )
    frames = {level: {each.frame for each in found.events(level)} for level in (2, 3)}
    assert frames[3] <= frames[2]
    assert all(each.probability >= least for each in found.events(3))
    for each in found.events(2):
        assert each.probability >= least or each.frame in frames[3]


def test_the_strongest_events_are_reported() -> None:
    made = timeline([event(frame, 2, kl_static=frame) for frame in range(10, 90, 10)])
    for selection, count in ((Selection(events=3), 3), (Selection(every=2.0), 2)):  # of 4 seconds
        found = select_events(made, [2, 3], Fraction(0), selection, None)
        assert [each.frame for each in found.boundaries] == [
            90 - 10 * n for n in range(count, 0, -1)
        ]


def test_selections_that_make_no_sense_are_an_error() -> None:
    for wrong in ({"probability": 1.1}, {"events": -1}, {"every": 0.0}, {"every": math.nan}):
        with pytest.raises(VPRError, match="must be"):
            Selection(**wrong)
    with pytest.raises(VPRError, match="only one"):
        Selection(events=1, every=2.0)
    with pytest.raises(VPRError, match="has no probabilities"):
        select_events(timeline(EVENTS), [2], Fraction(0), Selection(probability=0.5), None)


def test_times_have_units() -> None:
    assert [seconds(text) for text in ("10", "10s", "2min", "500ms")] == [10, 10, 120, 0.5]


def test_probabilities_survive_json_and_reach_tables(tmp_path: Path) -> None:
    made = timeline(EVENTS)
    found = select_events(made, [2, 3], Fraction(0), Selection(probability=0.0), calibration(made))
    found.to_json(tmp_path / "clip.json")
    assert Timeline.from_json(tmp_path / "clip.json").boundaries == found.boundaries
    found.to_csv(tmp_path / "clip.csv")
    head, first, *_ = (tmp_path / "clip.csv").read_text().splitlines()
    assert head.split(",")[-1] == "probability"
    assert float(first.split(",")[-1]) == found.boundaries[0].probability


def test_a_calibration_belongs_to_its_weights(tmp_path: Path) -> None:
    made = calibration(timeline(EVENTS))
    made.save(tmp_path / "calibration.safetensors", "abc")
    read = Calibration.load(tmp_path / "calibration.safetensors", "abc")
    assert read.gap == made.gap
    assert all((read.weights[n] == made.weights[n]).all() for n in (2, 3))
    with pytest.raises(VPRError, match="other weights"):
        Calibration.load(tmp_path / "calibration.safetensors", "abd")


def test_of_close_events_the_strongest_is_kept() -> None:
    times, scores = np.array([0.0, 0.3, 0.6, 2.0]), np.array([1.0, 3.0, 2.0, 0.0])
    assert non_maximum_suppression(times, scores, 0.5).tolist() == [False, True, False, True]
    assert non_maximum_suppression(times, scores, 0.2).all()


def test_a_transition_is_found_once_and_within_the_tolerance() -> None:
    spans = [(Fraction(1), Fraction(1)), (Fraction(3), Fraction(4))]
    found = tally([0.8, 1.1, 3.5, 4.3], spans)
    assert (found.matched, found.predicted, found.true) == (2, 4, 2)
    only = tally([0.8, 3.5, 4.3], spans[:1], spans[1:])
    assert (only.matched, only.predicted, only.true) == (1, 2, 1)


def test_only_the_strongest_event_of_a_transition_is_right() -> None:
    times, p = np.array([0.0, 1.0, 2.0, 2.1]), np.array([0.05, 0.05, 0.95, 0.95])
    hits = first_hits(times, p, [(Fraction(2), Fraction(2))])
    assert hits.tolist() == [False, False, True, False]
