"""A model at work on footage: the image network for many frames at once, then the levels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from vpr.ahead import Ahead
from vpr.boundaries import Sight
from vpr.errors import VPRError
from vpr.events import Rule, Subjective
from vpr.model import VPR
from vpr.video.frames import Picture

CHUNK = 16  # frames encoded together: more are hardly cheaper, and each is held in full size


class Eye:
    """Gives what `Stream` gives, for several times as many frames a second."""

    def __init__(self, model: VPR) -> None:
        check_watches(model)
        self.codec, self.pixels = model.codec, Pixels(model)
        with torch.inference_mode():
            self._ahead = Ahead(model)

    @torch.inference_mode()
    def look(self, pictures: Sequence[Picture]) -> list[list[Sight]]:
        """The next frames, in order; for each what levels 1, 2, … saw, see `Ahead.look`."""
        return self._ahead.look(self.encode(pictures))

    def encode(self, pictures: Sequence[Picture]) -> Tensor:  # → x⁰ (K, D)
        return self.codec.encode(self.codec.to_layout(self.pixels(pictures)))


class Pixels:
    """Pictures to frames of a model."""

    def __init__(self, model: VPR) -> None:
        self.like = model.usual

    def __call__(self, pictures: Sequence[Picture]) -> Tensor:
        """K of (H, W, C), of the model's size → (K, C, H, W) in [0, 1]."""
        return torch.from_numpy(np.stack(pictures)).to(self.like).div_(255).movedim(-1, 1)


def check_watches(model: VPR) -> None:
    """It has a level that can find something."""
    if model.config.levels < 2:
        raise VPRError("the model has one level, which finds no events: train one of 2 or more")


def with_threshold(model: VPR, gamma: float | None) -> VPR:
    """The same weights under another γ; the model itself stays as it is."""
    return model if gamma is None else with_rule(model, replace(surprised(model), gamma=gamma))


def with_rule(model: VPR, rule: Rule) -> VPR:
    """The same weights, not a copy of them, under another rule."""
    changed = copy(model)
    changed.rule = rule
    return changed


def surprised(model: VPR) -> Subjective:
    """The model's rule, if it has a threshold."""
    if isinstance(model.rule, Subjective) and model.rule.unexpected:
        return model.rule
    raise VPRError("this model's levels do not ask what is unexpected: it has no threshold to set")
