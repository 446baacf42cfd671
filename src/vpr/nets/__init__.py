"""Networks: dense layers, codecs between frames and the hierarchy, convolutions, likelihoods."""

from __future__ import annotations

from vpr.errors import VPRError
from vpr.nets.codec import Codec, VectorCodec
from vpr.nets.folded import Folded
from vpr.nets.world_models import WorldModels

__all__ = ["Codec", "Folded", "VectorCodec", "WorldModels", "make_codec"]


def make_codec(
    frame: tuple[int, ...],
    width: int,
    network: str,
    channels: int,
    colour_masks: int = 1,
    layers: int = 4,
    output_scale: float = 1.0,
) -> Codec:
    """The codec for frames of this shape: (C, H, W) for images, or (F,) for feature vectors.

    `colour_masks` applies to the network "folded" only, `layers` to feature vectors only.
    `output_scale` is the scale of the first outputs, see `Likelihood.output_scale`.
    """
    if len(frame) == 1:
        return VectorCodec(frame[0], width, layers, output_scale)
    if network == "world-models":
        return WorldModels(frame, width, channels, output_scale)  # type: ignore[arg-type]
    if network == "folded":
        return Folded(frame, width, channels, colour_masks, output_scale)  # type: ignore[arg-type]
    raise VPRError(f"network must be 'world-models' or 'folded', got {network!r}")
