"""Timelines for pages: of the shipped model on Moving Ball, and a synthetic hour."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from io import BytesIO

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

import vpr
from vpr.data import MovingBall, evaluation_rng
from vpr.events import Kind
from vpr.pages.sequence_data import boundaries_of
from vpr.segmenting.timeline import Curves, Event, Timeline

RATE = 25
KINDS: tuple[Kind, ...] = ("expected", "unexpected", "both")


@cache
def balls(length: int = 200) -> Timeline:
    """Two levels, real pictures, real decisions."""
    model = vpr.VPR.from_pretrained("moving-ball")
    frames = MovingBall().batch(1, length, evaluation_rng(0)).frames
    with torch.inference_mode():
        trace = model.observe(torch.from_numpy(frames))
    found = [Event.of(b, Fraction(b.frame, RATE)) for b in boundaries_of(trace, 0)]
    seen = trace.levels[1].evidence
    return Timeline(
        source="films/balls.mp4",
        model="moving-ball",
        levels=2,
        frames=length,
        times=np.arange(length) / RATE,
        boundaries=found,
        curves={
            2: Curves(*(v[0].numpy() for v in (seen.kl_static, seen.kl_change, seen.threshold)))
        },
        pictures={t: jpeg(frames[0, t]) for t in [0, *(event.frame for event in found)]},
    )


@cache
def hour(
    frames: int = 90_000, events: int = 1_000, levels: int = 3, picture: int = 5_000
) -> Timeline:
    """Three levels; a level is evaluated only where the one below has an event."""
    rng = np.random.default_rng(0)
    at = np.sort(rng.choice(np.arange(1, frames), events, replace=False))
    asked = np.ones(frames, bool)
    curves, found = {}, []
    for level in range(2, levels + 1):
        series = np.exp(rng.normal([[-4], [2.5], [0.2]], [[1], [0.3], [0.02]], (3, frames)))
        series[0, at], series[1, at] = np.exp(rng.normal(2.5, 0.5, at.size)), 0.05
        series[:, ~asked] = np.nan
        curves[level] = Curves(*series.astype(np.float32))
        found += [
            Event(t, Fraction(t, RATE), level, KINDS[t % 3], *map(float, series[:, t]))
            for t in at.tolist()
        ]
        asked = np.isin(np.arange(frames), at)
        at = at[::8]
    pictures = dict.fromkeys((event.frame for event in found), bytes(picture))
    found.sort(key=lambda event: (event.frame, event.level))
    return Timeline(
        "an hour.mp4",
        "runs/mine",
        levels,
        frames,
        np.arange(frames) / RATE,
        found,
        curves,
        pictures,
    )


def jpeg(frame: NDArray[np.float32]) -> bytes:  # (3, H, W) in [0, 1]
    written = BytesIO()
    pixels = (frame.transpose(1, 2, 0) * 255).astype(np.uint8)
    Image.fromarray(pixels).save(written, "JPEG", quality=80)
    return written.getvalue()
