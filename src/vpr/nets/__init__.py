"""Networks: dense layers, codecs between frames and the hierarchy, likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vpr.nets.codec import Codec, VectorCodec
from vpr.nets.folded import Folded
from vpr.nets.world_models import WorldModels

if TYPE_CHECKING:
    from vpr.config import ModelConfig

__all__ = ["Codec", "Folded", "VectorCodec", "WorldModels", "make_codec"]


def make_codec(
    config: ModelConfig, output_scale: float = 1.0, *, width: int | None = None
) -> Codec:
    """The codec for the frames of a configuration: (C, H, W) for images, (F,) for feature vectors.

    `output_scale` is the scale of the first outputs, see `Likelihood.output_scale`. `width` is the
    size of x⁰ and c⁰; the default is that of the configuration.
    """
    width = config.width if width is None else width
    if len(config.frame) == 1:
        return VectorCodec(config.frame[0], width, config.layers, output_scale)
    channels, height, columns = config.frame
    frame = channels, height, columns
    if config.network == "world-models":
        return WorldModels(frame, width, config.channels, output_scale)
    return Folded(frame, width, config.channels, config.colour_masks, output_scale)
