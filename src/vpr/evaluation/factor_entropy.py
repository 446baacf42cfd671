"""Which factors vary when one level is sampled: average entropy H_v, figure 7 of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.factor_readers import Reader, Reading, read_in_batches
from vpr.generation.generate import sample
from vpr.model import VPR


def read_draws(
    model: VPR, reader: Reader, video: Tensor, level: int, draws: int, seed: int = 0
) -> Reading:
    """Sample once per sequence of a video (B, T, *frame), and read each factor (B, I)."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        return reader(sample(model, model.observe(part).state, level, draws, generator).frames)

    return read_in_batches(model, video, read)


def mean_entropy(drawn: NDArray[Any]) -> float:
    """H_v in nats of values (M, I): −1/M Σ_m Σ_v p ln p, with M trials of I samples.

    p is the share of value v among the samples of trial m.
    """
    return float(np.mean([_entropy(trial) for trial in drawn]))


def _entropy(values: NDArray[Any]) -> float:
    share = np.unique(values, return_counts=True)[1] / len(values)
    return float(-(share * np.log(share)).sum())
