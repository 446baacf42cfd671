"""Order and timing of changes in imagined frames, for data with regular changes."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.factor_readers import Reader, Reading, concatenate
from vpr.generation.event_clock import EventClock
from vpr.generation.imagine import Endings, Hazards, imagine_steps
from vpr.model import VPR

DECODE_BATCH = 256  # frames decoded at once, to bound the memory


class ImaginedReading(NamedTuple):
    """The imagined continuation of a video."""

    boundary: NDArray[np.bool_]  # (B, F, N), updates of each level, level 1 first
    decoded: Reading  # (B, F) of each factor


@torch.no_grad()
def read_imagined(
    model: VPR,
    durations: Hazards,
    reader: Reader,
    video: Tensor,
    frames: int,
    *,
    endings: Endings = "drawn",
    seed: int = 0,
) -> ImaginedReading:
    """Observe a video (B, T, *frame), imagine `frames` frames, and read them; see `imagine`."""
    trace = model.observe(video.to(model.device, model.dtype))
    generator = torch.Generator().manual_seed(seed)
    clock = EventClock.of(trace)
    future_steps = imagine_steps(
        model, trace.state, durations, clock=clock, endings=endings, generator=generator
    )
    steps = [(step.c0, step.boundary) for step in islice(future_steps, frames)]
    c0, boundary = (torch.stack(each, 1) for each in zip(*steps, strict=True))
    flat = c0.flatten(0, 1)  # (B · F, D)
    parts = [reader(model.reconstruct(part)) for part in torch.split(flat, DECODE_BATCH)]
    whole = concatenate(parts)
    decoded = {name: e.reshape(len(video), frames, *e.shape[1:]) for name, e in whole.items()}
    return ImaginedReading(boundary.cpu().numpy(), decoded)


def future(
    seen: NDArray[Any], changed: NDArray[np.bool_], period: int, values: int, frames: int
) -> NDArray[Any]:
    """The true continuation (B, frames) of a factor (B, T) that changes every `period` frames.

    The last change in `changed` (B, T) gives the phase.
    """
    since = changed[:, ::-1].argmax(1)[:, None]  # frames from the last change to the last frame
    steps = (since + np.arange(1, frames + 1)) // period
    return np.asarray((seen[:, -1:] + steps) % values)


def in_event_order(
    decoded: NDArray[Any], boundary: NDArray[np.bool_], last: NDArray[Any], values: int
) -> float:
    """The share of imagined events of a level at whose first frame the factor has its next value.

    `decoded` and `boundary` are (B, F); `last` (B,) is the factor at the last observed frame.
    """
    wanted = (last[:, None] + boundary.cumsum(1)) % values
    right = (decoded == wanted)[boundary]
    return float(right.mean()) if right.size else 0.0
