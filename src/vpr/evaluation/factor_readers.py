"""Read the factors of a dataset from the pixels of a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.baselines.baseline_model import Baseline
from vpr.data.discs import COLOURS
from vpr.model import VPR

CHUNK = 8  # sequences per batch, to bound the memory

Reading = dict[str, NDArray[Any]]  # factor → values (...), −1 if unreadable
Reader = Callable[[Tensor], Reading]  # of pictures (..., *frame) of a dataset or a model


def concatenate(parts: list[Reading], axis: int = 0) -> Reading:
    """Several readings as one."""
    return {name: np.concatenate([part[name] for part in parts], axis) for name in parts[0]}


@torch.no_grad()
def read_in_batches(
    model: VPR | Baseline, video: Tensor, read: Callable[[Tensor], Reading]
) -> Reading:
    """Apply `read` to `CHUNK` sequences of a video (B, T, *frame) at a time."""
    parts = torch.split(video.to(model.device, model.dtype), CHUNK)
    return concatenate([read(part) for part in parts])


def read_ball(frames: Tensor) -> Reading:
    """Colour and position of the ball in pictures (..., 3, H, W), in closed form.

    Pixels are weighted by the square of their brightness. The colour is the entry of the palette
    nearest to their mean, or −1 if that is nearer to black; the position is their centre.
    """
    pixels = frames.float().cpu()
    weight = pixels.amax(-3, keepdim=True) ** 2  # (..., 1, H, W)
    total = weight.sum((-2, -1)).clamp(min=1e-6)  # (..., 1)
    mean = (weight * pixels).sum((-2, -1)) / total  # (..., 3)
    palette = torch.from_numpy(np.concatenate([np.zeros_like(COLOURS[:1]), COLOURS]))
    colour = (mean.unsqueeze(-2) - palette).square().sum(-1).argmin(-1) - 1
    y, x = (torch.arange(size, dtype=torch.float32) for size in pixels.shape[-2:])
    place = [(weight.sum(-1) * y).sum(-1) / total, (weight.sum(-2) * x).sum(-1) / total]
    return {"position": torch.cat(place, -1).numpy(), "colour": colour.numpy()}


def accuracy(reading: Reading, true: Reading) -> dict[str, float]:
    """The share of correct readings (...) for each factor with integer values."""
    counted = [name for name in reading if reading[name].dtype.kind in "iu"]
    return {name: float((reading[name] == true[name]).mean()) for name in counted}
