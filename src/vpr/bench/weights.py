"""Which weights a benchmark takes: those of a model that has learned something, where there are."""

from __future__ import annotations

import torch

from vpr.config import ModelConfig, RunConfig
from vpr.model import VPR
from vpr.pretrained import data_for, load_model, shipped_models


def fitting_model(config: RunConfig) -> tuple[VPR, str]:
    """The shipped model of this dataset and configuration, or an untrained one; and its name."""
    for name in shipped_models():
        model = load_model(name)
        if data_for(name) == config.data and model.config == config.model:
            return model, name
    return untrained(config.model, config.seed), "untrained"


def untrained(config: ModelConfig, seed: int) -> VPR:
    torch.manual_seed(seed)
    return VPR(config).eval()
