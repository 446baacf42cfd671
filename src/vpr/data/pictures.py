"""Writes sequences as a contact sheet with change points, or as a GIF."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vpr.data.base import Batch
from vpr.utils.files import write_atomically

GAP = 3  # pixels between two frames
MARK_HEIGHT = 4  # height of a change mark
PLOT_SIZE = 48  # height and width of a frame of plain numbers
# Per factor: sky blue, orange, purple, yellow. The same as `vpr.pages.palette.OTHERS`.
FACTOR_COLOURS = np.array(
    [[86, 180, 233], [230, 159, 0], [204, 121, 167], [240, 228, 66]], dtype=np.uint8
)
BACKGROUND = 245
FRAME_MS = 120  # milliseconds per frame of an animation


def write_sheet(path: Path, batch: Batch) -> None:
    """Write one row per sequence, with a mark below a frame for each factor that changed there."""
    frames = as_images(batch.frames)
    marks = np.array([*batch.changes.values()]).reshape(-1, *frames.shape[:2])  # (factors, B, T)
    marks = marks[marks.any((1, 2))]  # a factor that never changes needs no space
    rows = [_row(frames[b], marks[:, b]) for b in range(len(frames))]
    save_images(path, [np.concatenate(rows)])


def write_gif(path: Path, batch: Batch) -> None:
    """Write an animation with the sequences side by side."""
    frames = as_images(batch.frames)  # (B, T, H, W, 3)
    padded = np.pad(frames, ((0, 0), (0, 0), (0, 0), (0, GAP), (0, 0)), constant_values=BACKGROUND)
    moments = np.concatenate(list(padded), axis=2)  # (T, H, B·W, 3)
    save_images(path, list(moments), FRAME_MS)


def as_png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture (H, W, 3 or 4) as an optimised PNG."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()


def as_images(frames: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(B, T, *frame) → (B, T, H, W, 3); vectors become bars from dark to light."""
    if frames.ndim == 3:
        return _bars(frames)
    pixels = (frames.clip(0, 1) * 255).round().astype(np.uint8)
    pixels = np.moveaxis(pixels, 2, -1)
    return np.repeat(pixels, 3, -1) if pixels.shape[-1] == 1 else pixels


def _bars(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(B, T, F) → pictures (B, T, PLOT_SIZE, ~PLOT_SIZE, 3): one bar per feature."""
    height = np.arange(PLOT_SIZE, 0, -1)[:, None] / PLOT_SIZE
    filled = vectors[:, :, None, :] >= height  # (B, T, PLOT_SIZE, F)
    wide = np.repeat(filled, max(PLOT_SIZE // vectors.shape[-1], 1), -1)
    ink, paper = np.uint8(60), np.uint8(225)
    return np.repeat(np.where(wide, ink, paper)[..., None], 3, -1)


def _row(frames: NDArray[np.uint8], marks: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Frames (T, H, W, 3) beside each other, marks (factors, T) beneath."""
    length, height, width = frames.shape[:3]
    step = width + GAP
    depth = len(marks) * (MARK_HEIGHT + 1) + GAP
    sheet = np.full((height + depth, length * step, 3), BACKGROUND, dtype=np.uint8)
    for t in range(length):
        sheet[:height, t * step : t * step + width] = frames[t]
        for k in np.flatnonzero(marks[:, t]):
            top = height + 1 + k * (MARK_HEIGHT + 1)
            sheet[top : top + MARK_HEIGHT, t * step : t * step + width] = FACTOR_COLOURS[
                k % len(FACTOR_COLOURS)
            ]
    return sheet


def save_images(path: Path, pictures: list[NDArray[np.uint8]], milliseconds: int = 0) -> None:
    """Write a PNG of one picture (H, W, 3), or a GIF of several."""
    first, *rest = (Image.fromarray(picture) for picture in pictures)
    kind = path.suffix.lstrip(".").upper()
    moving = {"save_all": True, "append_images": rest, "duration": milliseconds, "loop": 0}
    options = moving if kind == "GIF" else {}
    write_atomically(path, lambda temporary: first.save(temporary, kind, **options))
