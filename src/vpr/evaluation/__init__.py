"""How good are the events: scores against ground truth, with controls."""

from vpr.evaluation.evaluate import check_request, evaluate
from vpr.evaluation.scores import Scores, periodic_like, random_like, score

__all__ = ["Scores", "check_request", "evaluate", "periodic_like", "random_like", "score"]
