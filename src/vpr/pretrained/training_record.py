"""Information about the training of a model, read from its folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from vpr.errors import VPRError
from vpr.pretrained import TRAINING, find_model, read_config
from vpr.utils.config_json import KIND
from vpr.utils.files import parse_json, tensor_notes


class TrainingRecord(NamedTuple):
    """The data, progress and fit of a model's training; None where it is not known."""

    data: str | None = None  # name of the dataset
    step: int | None = None
    steps: int | None = None  # of the whole run
    explained: float | None = None  # share of the frames' variation that is reconstructed

    @property
    def is_unfinished(self) -> bool:
        return self.step is not None and self.steps is not None and self.step < self.steps


def training_record(name: str | None) -> TrainingRecord:
    """The record of a shipped model, a run folder or a repository of the hub; empty without one.

    Only run folders have the progress and the fit, in the notes of their checkpoint.
    """
    if name is None:
        return TrainingRecord()
    try:
        folder = find_model(name)
        config = read_config(folder)
    except VPRError:
        return TrainingRecord()
    kind = _dictionary(config.get("data")).get(KIND)
    steps = _dictionary(config.get("training")).get("steps")
    notes = _notes(folder / TRAINING)
    step, explained = notes.get("step"), notes.get("explained")
    return TrainingRecord(
        kind if isinstance(kind, str) else None,
        step if type(step) is int else None,
        steps if type(steps) is int else None,
        explained if type(explained) is float and math.isfinite(explained) else None,
    )


def _notes(checkpoint: Path) -> dict[str, Any]:
    try:
        return _dictionary(parse_json(tensor_notes(checkpoint)["training"]))
    except (VPRError, KeyError, ValueError):  # it is missing or damaged
        return {}


def _dictionary(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
