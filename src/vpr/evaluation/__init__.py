"""Scores of events, durations and states against ground truth, with controls."""

from vpr.evaluation.calibration import Calibration, calibration
from vpr.evaluation.evaluate import evaluate
from vpr.evaluation.imagination_scores import evaluate_imagination
from vpr.evaluation.lengths import Lengths, distance, lengths
from vpr.evaluation.matching import Pair, Tally, boundary_scores, match
from vpr.evaluation.probe import probe_scores
from vpr.evaluation.scores import Scores, periodic_like, random_like, score

__all__ = [
    "Calibration",
    "Lengths",
    "Pair",
    "Scores",
    "Tally",
    "boundary_scores",
    "calibration",
    "distance",
    "evaluate",
    "evaluate_imagination",
    "lengths",
    "match",
    "periodic_like",
    "probe_scores",
    "random_like",
    "score",
]
