"""`Extractor`, the protocol of image networks, and the ones that have a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError

Pictures = NDArray[np.uint8]  # (T, H, W, 3)
Features = NDArray[np.floating[Any]]  # (T, F)


class Extractor(Protocol):
    """Any callable from pictures (T, H, W, 3) to features (T, F), such as DINOv2 or CLIP.

    The features of a frame must not depend on the other frames of the call. Pictures have 128×128
    pixels, or those of the attribute `size` (height, width) if there is one.
    """

    def __call__(self, pictures: Pictures) -> Features: ...


def _efficientnet() -> Extractor:
    from vpr.features.efficientnet import EfficientNetLite0

    return EfficientNetLite0()


EXTRACTORS: dict[str, Callable[[], Extractor]] = {"efficientnet-lite0": _efficientnet}
DEFAULT_SIZE = (128, 128)


@lru_cache(maxsize=4)
def load_extractor(name: str) -> Extractor:
    """The extractor of this name."""
    if name not in EXTRACTORS:
        raise VPRError(f"no features {name!r}: choose one of {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]()


def picture_size(extractor: Extractor) -> tuple[int, int]:
    """Height and width of the pictures that an extractor takes."""
    height, width = getattr(extractor, "size", DEFAULT_SIZE)
    return int(height), int(width)
