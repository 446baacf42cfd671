"""The model that a benchmark uses: a trained one if available."""

from __future__ import annotations

import torch

from vpr.config import ModelConfig, RunConfig
from vpr.model import VPR
from vpr.pretrained import data_for, load_model, shipped_models


def matching_model(config: RunConfig) -> tuple[VPR, str]:
    """The shipped model of this dataset and configuration with its name, or "untrained"."""
    for name in shipped_models():
        model = load_model(name)
        if data_for(name) == config.data and model.config == config.model:
            return model, name
    return untrained_model(config.model, config.seed), "untrained"


def untrained_model(config: ModelConfig, seed: int) -> VPR:
    torch.manual_seed(seed)
    return VPR(config).eval()
