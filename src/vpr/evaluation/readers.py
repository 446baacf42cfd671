"""What is to be seen in a picture: the factors of its dataset, read off the pixels alone."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.data.discs import COLOURS

Reading = dict[str, NDArray[Any]]  # factor → its values (...), −1 where there is nothing to read


class Reader(Protocol):
    """Reads pictures (..., *frame), painted by a dataset or by a model."""

    def __call__(self, frames: Tensor) -> Reading: ...


class BallReader:
    """The colour of the ball and its place, in closed form.

    Bright pixels count, by the square of their brightness; the colour is the nearest of the
    palette to their mean, or none if that is nearer to black. The place is their centre.
    """

    def __call__(self, frames: Tensor) -> Reading:
        pixels = frames.float().cpu()
        weight = pixels.amax(-3, keepdim=True) ** 2  # (..., 1, H, W)
        total = weight.sum((-2, -1)).clamp(min=1e-6)  # (..., 1)
        mean = (weight * pixels).sum((-2, -1)) / total  # (..., 3)
        palette = torch.from_numpy(np.concatenate([np.zeros_like(COLOURS[:1]), COLOURS]))
        colour = (mean.unsqueeze(-2) - palette).square().sum(-1).argmin(-1) - 1
        y, x = (torch.arange(size, dtype=torch.float32) for size in pixels.shape[-2:])
        place = [(weight.sum(-1) * y).sum(-1) / total, (weight.sum(-2) * x).sum(-1) / total]
        return {"position": torch.cat(place, -1).numpy(), "colour": colour.numpy()}


def share_right(reading: Reading, true: Reading) -> dict[str, float]:
    """Of each factor whose values are counted, how many of its readings (...) are true."""
    counted = [name for name in reading if reading[name].dtype.kind in "iu"]
    return {name: float((reading[name] == true[name]).mean()) for name in counted}
