"""Probabilities of events: fitting, selecting, storing."""

from __future__ import annotations

import math
from dataclasses import replace
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
    INPUTS,
    SPANS,
    Calibration,
    Changes,
    evidence,
    fit_logistic,
    logistic,
    non_maximum_suppression,
    with_bias,
)
from vpr.segmenting.selection import Selection, select_events
from vpr.segmenting.timeline import Timeline

EVENTS = [event(frame, level) for frame in range(10, 90, 10) for level in (2, 3)]


CHANGES = np.random.default_rng(2).random((100, len(SPANS)))


def calibration() -> Calibration:
    """Random weights, so that probabilities differ."""
    rng = np.random.default_rng(1)
    size = evidence(CHANGES, [5]).shape[1] + 1
    return Calibration({n: rng.normal(size=size) for n in (2, 3)}, gap=0.1)


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


@pytest.mark.parametrize("part", [1, 7, 100])
def test_changes_do_not_depend_on_how_a_film_is_divided(part: int) -> None:
    rows = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    changes = Changes()
    for start in range(0, 100, part):
        changes.add(rows[start : start + part])
    found = changes.complete()
    assert found.shape == (100, len(SPANS))
    for place, span in ((50, 4), (50, 16), (99, 1)):
        before, after = rows[place - span : place].mean(0), rows[place : place + span].mean(0)
        expected = np.sqrt(np.square(after - before).mean())
        assert found[place, SPANS.index(span)] == pytest.approx(expected, rel=1e-5)


def test_a_cut_changes_all_spans_and_a_flash_only_the_short_ones() -> None:
    rows = np.zeros((100, 2), np.float32)
    rows[30:] = 1  # a cut
    rows[70] = 5  # a flash
    changes = Changes()
    changes.add(rows)
    found = changes.complete()
    assert np.allclose(found[30], 1)
    assert (np.diff(found[70]) < 0).all()


@pytest.mark.parametrize("frames", [0, 1, 5])
def test_short_films_have_changes(frames: int) -> None:
    changes = Changes()
    if frames:
        changes.add(np.ones((frames, 2)))
    assert changes.complete().tolist() == np.zeros((frames, len(SPANS))).tolist()


def test_evidence_is_finite_without_any_change() -> None:
    assert np.isfinite(evidence(np.zeros((100, len(SPANS))), [0, 3, 99])).all()


def test_evidence_does_not_depend_on_frames_far_away() -> None:
    changed = CHANGES.copy()
    changed[95:] = 50
    assert (evidence(changed, [60]) == evidence(CHANGES, [60])).all()


def test_without_calibration_all_events_are_reported() -> None:
    made = timeline(EVENTS)
    assert select_events(made, [2, 3], Fraction(0), Selection(), None).boundaries == made.boundaries


@pytest.mark.parametrize("least", [0.2, 0.5, 0.9])
def test_likely_events_are_reported_and_levels_stay_nested(least: float) -> None:
    made = timeline(EVENTS)
    selection = Selection(probability=least)
    found = select_events(made, [2, 3], Fraction(0), selection, calibration(), CHANGES)
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
    selection = Selection(probability=0.0)
    found = select_events(made, [2, 3], Fraction(0), selection, calibration(), CHANGES)
    found.to_json(tmp_path / "clip.json")
    assert Timeline.from_json(tmp_path / "clip.json").boundaries == found.boundaries
    found.to_csv(tmp_path / "clip.csv")
    head, first, *_ = (tmp_path / "clip.csv").read_text().splitlines()
    assert head.split(",")[-1] == "probability"
    assert float(first.split(",")[-1]) == found.boundaries[0].probability


def test_a_calibration_belongs_to_its_weights(tmp_path: Path) -> None:
    made = calibration()
    made.save(tmp_path / "calibration.safetensors", "abc")
    read = Calibration.load(tmp_path / "calibration.safetensors", "abc")
    assert read.gap == made.gap
    assert all((read.weights[n] == made.weights[n]).all() for n in (2, 3))
    with pytest.raises(VPRError, match="other weights"):
        Calibration.load(tmp_path / "calibration.safetensors", "abd")


@pytest.mark.parametrize(
    ("weights", "gap"),
    [
        ({2: np.zeros(5)}, 0.1),
        ({1: np.zeros(INPUTS + 1)}, 0.1),
        ({2: np.full(INPUTS + 1, np.nan)}, 0.1),
        ({2: np.zeros(INPUTS + 1)}, -1.0),
        ({2: np.zeros(INPUTS + 1)}, math.inf),
    ],
)
def test_malformed_files_are_one_error(
    tmp_path: Path, weights: dict[int, np.ndarray], gap: float
) -> None:
    Calibration(weights, gap).save(tmp_path / "calibration.safetensors", "abc")
    with pytest.raises(VPRError, match="is not a calibration file"):
        Calibration.load(tmp_path / "calibration.safetensors", "abc")


def test_the_digest_depends_on_weights_and_gap() -> None:
    made = calibration()
    others = [replace(made, gap=0.2), replace(made, weights={2: made.weights[2]})]
    assert made.digest() == calibration().digest()
    assert len({each.digest() for each in (made, *others)}) == 3


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
