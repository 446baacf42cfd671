"""Images from the official file of 3D Shapes, `3dshapes.h5`."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.room_renderer import SIZE, Floats
from vpr.errors import VPRError


class ShapesFile:
    """Images by their factors; the number of values of each factor is read from the labels."""

    def __init__(self, path: str) -> None:
        self.images, labels = _open(path)
        columns = [np.unique(column, return_inverse=True) for column in labels.T]
        self.sizes = tuple(len(values) for values, _ in columns)
        place = np.ravel_multi_index(tuple(index for _, index in columns), self.sizes)
        self.row = np.argsort(place)  # of the image at each place of the grid
        if not np.array_equal(place[self.row], np.arange(np.prod(self.sizes))):
            raise VPRError(f"{path} is incomplete: download it again")

    def frames(self, hues: NDArray[np.int64], constant: NDArray[np.int64]) -> Floats:
        """Frames (B, T, 3, SIZE, SIZE) of hues (B, T, 3) and scale, shape, orientation (B, 3)."""
        factors = (*np.moveaxis(hues, -1, 0), *constant.T[..., None])
        rows = self.row[np.ravel_multi_index(np.broadcast_arrays(*factors), self.sizes)]
        wanted, where = np.unique(rows, return_inverse=True)
        # One by one, because h5py is slow with long lists of rows.
        images = np.stack([self.images[row] for row in wanted])
        frames = np.moveaxis(images[where.reshape(rows.shape)], -1, 2).astype(np.float32)
        frames /= 255
        return frames


def shapes_file(path: str) -> ShapesFile:
    """The file, opened once in each process: HDF5 files do not survive a fork."""
    return _shapes_file(path, os.getpid())


@cache
def _shapes_file(path: str, process: int) -> ShapesFile:
    return ShapesFile(path)


def _open(path: str) -> tuple[Any, NDArray[np.float64]]:
    """The images (rows, SIZE, SIZE, 3), on disk, and their labels (rows, 6)."""
    if not Path(path).is_file():
        raise VPRError(
            f"{path} does not exist: give the path of 3dshapes.h5, or none to render rooms"
        )
    try:
        import h5py
    except ImportError as error:
        raise VPRError(f"{path} needs h5py: pip install 'vpr-torch[shapes]'") from error
    try:
        file = h5py.File(path, "r")
        images, labels = file["images"], file["labels"]
        fits = images.shape[1:] == (SIZE, SIZE, 3) and images.dtype == np.uint8
        fits = fits and labels.shape == (len(images), 6) and len(images) > 0
    except (OSError, KeyError, AttributeError) as error:
        raise VPRError(f"{path} is not the file of 3D Shapes: download it again") from error
    if not fits:
        raise VPRError(f"{path} is not the file of 3D Shapes: its images or labels differ")
    return images, labels[:]
