"""The published image network of VTA, in the form of a codec."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vpr.errors import VPRError
from vpr.nets.codec import OUTPUT_GAIN, Codec

CHANNELS = 128


class VTAImages(Codec):
    """Convolutions 4×4 of stride 2 and 128 channels down to 4×4 pixels, then one to the features.

    With batch normalisation and ELU; the decoder mirrors the encoder. The published network has
    three such convolutions, for 32×32 pixels; each doubling of the frame adds one.
    """

    def __init__(self, frame: tuple[int, ...], width: int, output_scale: float = 1.0) -> None:
        super().__init__()
        colours, rows, columns = frame
        halvings = (rows // 4).bit_length() - 1
        if rows != columns or rows != 4 * 2**halvings:
            raise VPRError(f"the published network of VTA needs 16, 32, 64 or 128, got {frame}")
        down: list[nn.Module] = []
        up: list[nn.Module] = [nn.ConvTranspose2d(width, CHANNELS, 4), *_normalised()]
        for n in range(halvings):
            inputs = CHANNELS if n else colours
            down += [nn.Conv2d(inputs, CHANNELS, 4, 2, 1), *_normalised()]
            if n + 1 < halvings:
                up += [nn.ConvTranspose2d(CHANNELS, CHANNELS, 4, 2, 1), *_normalised()]
        self.down = nn.Sequential(*down, nn.Conv2d(CHANNELS, width, 4))
        self.up = nn.Sequential(*up)
        self.out = nn.ConvTranspose2d(CHANNELS, colours, 4, 2, 1)
        nn.init.normal_(self.out.weight, std=OUTPUT_GAIN * output_scale / (4 * CHANNELS) ** 0.5)

    def encode(self, y: Tensor) -> Tensor:
        return self.down(y).flatten(1)  # type: ignore[no-any-return]

    def decode(self, c0: Tensor) -> Tensor:
        return self.out(self.up(c0[..., None, None]))  # type: ignore[no-any-return]

    @torch.no_grad()
    def set_output(self, level: Tensor) -> None:
        assert self.out.bias is not None
        self.out.bias.copy_(level)


def _normalised() -> tuple[nn.Module, nn.Module]:
    return nn.BatchNorm2d(CHANNELS), nn.ELU()
