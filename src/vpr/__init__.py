"""Variational Predictive Routing: the events of a video, at several timescales, with no labels."""

from vpr.beliefs import Belief
from vpr.boundaries import Boundary
from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.evaluation import evaluate
from vpr.events import Always, Clockwork, Subjective
from vpr.generate import rollout, sample
from vpr.imagination import imagine
from vpr.model import VPR
from vpr.segmenting import Timeline, segment
from vpr.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "VPR",
    "Always",
    "Belief",
    "Boundary",
    "Clockwork",
    "ModelConfig",
    "Stream",
    "Subjective",
    "Timeline",
    "VPRError",
    "evaluate",
    "imagine",
    "rollout",
    "sample",
    "segment",
]
