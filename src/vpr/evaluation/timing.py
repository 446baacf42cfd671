"""Imagined frames against a world that is regular: are its changes in order, and in time?"""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.evaluation.readers import Reader, Reading
from vpr.generation.event_clock import EventClock
from vpr.generation.imagine import Endings, Hazards, imagine_steps
from vpr.model import VPR

DECODED = 256  # frames decoded and classified at once, which bounds the memory


class Foreseen(NamedTuple):
    """What was imagined to follow."""

    boundary: NDArray[np.bool_]  # (B, F, N) who moved, level 1 first
    painted: Reading  # (B, F) of each factor


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
) -> Foreseen:
    """Watch a video (B, T, *frame), imagine so many frames, and read them. See `imagine`."""
    trace = model.observe(video.to(model.device, model.dtype))
    generator = torch.Generator().manual_seed(seed)
    clock = EventClock.of(trace)
    ahead = imagine_steps(
        model, trace.state, durations, clock=clock, endings=endings, generator=generator
    )
    told = [(moment.c0, moment.boundary) for moment in islice(ahead, frames)]
    c0, boundary = (torch.stack(each, 1) for each in zip(*told, strict=True))
    flat = c0.flatten(0, 1)  # (B · F, D)
    parts = [reader(model.reconstruct(part)) for part in torch.split(flat, DECODED)]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    painted = {name: e.reshape(len(video), frames, *e.shape[1:]) for name, e in whole.items()}
    return Foreseen(boundary.cpu().numpy(), painted)


def future(
    seen: NDArray[Any], changed: NDArray[np.bool_], period: int, values: int, frames: int
) -> NDArray[Any]:
    """How a factor (B, T) goes on that steps through its cycle every `period` frames: (B, frames).

    The last change seen, of `changed` (B, T), tells the phase; in a period there is one.
    """
    since = changed[:, ::-1].argmax(1)[:, None]  # frames from the last change to the last frame
    steps = (since + np.arange(1, frames + 1)) // period
    return np.asarray((seen[:, -1:] + steps) % values)


def in_event_order(
    painted: NDArray[Any], boundary: NDArray[np.bool_], last: NDArray[Any], values: int
) -> float:
    """Share of a level's imagined events at whose first frame the factor is the next in order.

    painted and boundary (B, F), last (B,): the factor at the last frame seen.
    """
    wanted = (last[:, None] + boundary.cumsum(1)) % values
    right = (painted == wanted)[boundary]
    return float(right.mean()) if right.size else 0.0
