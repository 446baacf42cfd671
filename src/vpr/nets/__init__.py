"""The networks: dense layers, image networks (`Codec`), convolutions and likelihoods."""

from __future__ import annotations

from vpr.errors import VPRError
from vpr.nets.codec import Codec
from vpr.nets.folded import Folded
from vpr.nets.vectors import Features
from vpr.nets.world_models import WorldModels

__all__ = ["Codec", "Features", "Folded", "WorldModels", "make_codec"]


def make_codec(
    frame: tuple[int, ...],
    width: int,
    network: str,
    channels: int,
    tints: int = 1,
    layers: int = 4,
    loudness: float = 1.0,
) -> Codec:
    """The image network for frames of this shape: (C, H, W), or (F,) for plain vectors.

    `layers` are of the network for vectors. `loudness` tells how much of an output is a lot: a
    logit may be 4, a brightness at most 1.
    """
    if len(frame) == 1:
        return Features(frame[0], width, layers, loudness)
    if network == "world-models":
        return WorldModels(frame, width, channels, loudness)  # type: ignore[arg-type]
    if network == "folded":
        return Folded(frame, width, channels, tints, loudness)  # type: ignore[arg-type]
    raise VPRError(f"network must be 'world-models' or 'folded', got {network!r}")
