"""A model applied to footage: encodes frames in chunks, then detects events frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import torch
from torch import Tensor

from vpr.boundaries import LevelEvidence
from vpr.errors import VPRError
from vpr.events import Rule, Subjective
from vpr.model import VPR
from vpr.pretrained import data_for
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.plausibility import Sample
from vpr.stream import Detector
from vpr.video.fit import Mode
from vpr.video.frames import Picture

CHUNK = 16  # frames encoded together; more is hardly faster, and each is held at full size
DEFAULT_FIT: Mode = "letterbox"  # keeps the proportions and crops nothing


class Segmenter:
    """Gives the same results as `Stream`, several times as fast."""

    def __init__(self, model: VPR, inputs: ModelInput | None = None) -> None:
        check_levels(model)
        self.codec, self.input, self.sample = model.codec, inputs or ModelInput(model), Sample()
        with torch.inference_mode():
            self._detector = Detector(model, model.initial(1), level_one=False)

    @torch.inference_mode()
    def process(self, pictures: Sequence[Picture]) -> list[list[LevelEvidence]]:
        """The evidence of levels 1, 2, … for each of the next frames, see `Detector.process`."""
        return self._detector.process(self.encode(pictures))

    def encode(self, pictures: Sequence[Picture]) -> Tensor:  # → x⁰ (K, D)
        rows = self.input.rows(pictures)
        self.sample.add(rows[0])
        return self.codec.encode(self.codec.to_layout(self.input.scaled(rows)))


def check_levels(model: VPR) -> None:
    """Raise an error for a model that cannot detect events."""
    if model.config.levels < 2:
        raise VPRError("the model has one level and detects no events: use one with 2 or more")


def with_threshold(model: VPR, gamma: float | None) -> VPR:
    """The model with another γ, sharing its weights; `model` does not change."""
    return model if gamma is None else with_rule(model, replace(threshold_rule(model), gamma=gamma))


def with_rule(model: VPR, rule: Rule) -> VPR:
    """The model with another update rule, sharing its weights."""
    changed = copy(model)
    changed.rule = rule
    return changed


def threshold_rule(model: VPR) -> Subjective:
    """The update rule of the model, which must have a threshold."""
    if isinstance(model.rule, Subjective) and model.rule.unexpected:
        return model.rule
    raise VPRError("this model has no threshold to set: its update rule does not use CU")


def fit_for(model: str) -> Mode:
    """How footage of other proportions was fitted when the model of this name was trained."""
    try:
        data = data_for(model)
    except VPRError:  # weights without a configuration of data
        return DEFAULT_FIT
    fit: Mode = getattr(data, "fit", DEFAULT_FIT)
    return fit
