"""Variational Predictive Routing: the events of a video, at several timescales, with no labels."""

from vpr.config import ModelConfig
from vpr.errors import VPRError
from vpr.evaluation import evaluate
from vpr.generation.generate import rollout, sample
from vpr.generation.imagine import imagine
from vpr.model import VPR
from vpr.segmenting import Timeline, segment
from vpr.stream import Stream

__version__ = "0.1.0"

__all__ = [
    "VPR",
    "ModelConfig",
    "Stream",
    "Timeline",
    "VPRError",
    "evaluate",
    "imagine",
    "rollout",
    "sample",
    "segment",
]
