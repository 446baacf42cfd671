"""Variational Predictive Routing: detects events in video at several timescales, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Imported when first used, so that `vpr --help` does not import PyTorch.
_MODULES = {
    "VPR": "vpr.model",
    "ModelConfig": "vpr.config",
    "Stream": "vpr.stream",
    "Timeline": "vpr.segmenting",
    "VPRError": "vpr.errors",
    "evaluate": "vpr.evaluation",
    "imagine": "vpr.generation.imagine",
    "rollout": "vpr.generation.generate",
    "sample": "vpr.generation.generate",
    "segment": "vpr.segmenting",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'vpr' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
