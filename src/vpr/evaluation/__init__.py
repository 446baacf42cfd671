"""Scores of events, durations and states against ground truth, with controls."""

from vpr.evaluation.calibration import Calibration, calibration
from vpr.evaluation.evaluate import evaluate
from vpr.evaluation.imagination_scores import evaluate_imagination
from vpr.evaluation.lengths import EventLengths, earth_movers_distance, event_lengths
from vpr.evaluation.matching import MatchCounts, MatchedPair, boundary_scores, match_boundaries
from vpr.evaluation.probe import probe_scores
from vpr.evaluation.scores import Scores, periodic_like, random_like, score

__all__ = [
    "Calibration",
    "EventLengths",
    "MatchCounts",
    "MatchedPair",
    "Scores",
    "boundary_scores",
    "calibration",
    "earth_movers_distance",
    "evaluate",
    "evaluate_imagination",
    "event_lengths",
    "match_boundaries",
    "periodic_like",
    "probe_scores",
    "random_like",
    "score",
]
