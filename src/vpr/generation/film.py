"""A film: rows of predicted or sampled frames next to true frames, as a sheet, a GIF and an MP4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from vpr.data.pictures import BACKGROUND, GAP, as_images, save_images
from vpr.model import VPR
from vpr.state import State
from vpr.video.mp4 import can_write_mp4, write_mp4

Frames = NDArray[np.float32]  # (K, *frame)
Pixels = NDArray[np.uint8]  # (H, W, 3)
OnProgress = Callable[[int, str], None]  # files written, name of the next

FRAME_MS = 300  # milliseconds per picture
MIN_WIDTH = 64  # pixels; smaller frames are enlarged to about this width
ANIMATION_SCALE = 2  # scale of the frames of an animation
GROUP_GAP = 12  # between two groups, and after the first column
LABEL_SIZE = 26  # width of the labels
FONT_SIZE = 14
TEXT_COLOUR = (40, 40, 40)


class Strip(NamedTuple):
    """A row: the last observed frame, and the frames after it."""

    label: str
    frames: Frames  # (1 + K, *frame), or fewer


class Film(NamedTuple):
    groups: tuple[tuple[Strip, ...], ...]  # from top to bottom
    facts: dict[str, Any]  # for JSON


class Observation(NamedTuple):
    """The state of a model after a sequence."""

    state: State
    decoded: Frames  # (1, *frame), the reconstruction of the last frame

    def strip(self, level: int, frames: Tensor) -> Strip:
        """The row of a level with frames (1, K, *frame)."""
        return Strip(f"L{level}", np.concatenate([self.decoded, _array(frames)]))


@torch.no_grad()
def observe_frames(model: VPR, frames: Frames) -> Observation:
    """Observe the frames (T, *frame) of one sequence."""
    trace = model.observe(torch.from_numpy(frames[None]).to(model.device, model.dtype))
    return Observation(trace.state, _array(model.reconstruct(trace.c0[:, -1:])))


def _array(frames: Tensor) -> Frames:  # (1, K, *frame) → (K, *frame)
    return frames[0].float().cpu().numpy()


def sheet(film: Film) -> Pixels:
    """A row for each strip with its label on the left; the first column is set apart."""
    rows = [_images(strip, 1) for group in film.groups for strip in group]
    height, width = rows[0].shape[1:3]
    tops = _offsets(film, height)
    lefts = [
        LABEL_SIZE + k * (width + GAP) + GROUP_GAP * (k > 0) for k in range(max(map(len, rows)))
    ]
    canvas = _canvas(lefts[-1] + width, tops[-1] + height)
    for label, images, top in zip(_labels(film), rows, tops, strict=True):
        _write(canvas, label, LABEL_SIZE // 2, top + height // 2)
        for image, left in zip(images, lefts, strict=False):
            canvas.paste(Image.fromarray(image), (left, top))
    return np.asarray(canvas)


def animation(film: Film) -> list[Pixels]:
    """All strips side by side under their labels; one picture for each column of the sheet."""
    panels = [_images(strip, ANIMATION_SCALE) for group in film.groups for strip in group]
    height, width = panels[0].shape[1:3]
    lefts = _offsets(film, width)
    empty = _canvas(lefts[-1] + width, LABEL_SIZE + height)
    for label, left in zip(_labels(film), lefts, strict=True):
        _write(empty, label, left + width // 2, LABEL_SIZE // 2)
    shown = []
    for k in range(max(map(len, panels))):
        canvas = empty.copy()
        for images, left in zip(panels, lefts, strict=True):
            if k < len(images):
                canvas.paste(Image.fromarray(images[k]), (left, LABEL_SIZE))
        shown.append(np.asarray(canvas))
    return shown


def _images(strip: Strip, scale: int) -> NDArray[np.uint8]:
    """(K, H, W, 3)"""
    images: NDArray[np.uint8] = as_images(strip.frames[None])[0]
    times = scale * max(MIN_WIDTH // images.shape[2], 1)
    return images.repeat(times, 1).repeat(times, 2)


def _offsets(film: Film, size: int) -> list[int]:
    """The position of each strip, if each has this size."""
    places: list[int] = []
    for group in film.groups:
        start = places[-1] + size + GROUP_GAP if places else 0
        places += [start + k * (size + GAP) for k in range(len(group))]
    return places


def _labels(film: Film) -> list[str]:
    return [strip.label for group in film.groups for strip in group]


def _canvas(width: int, height: int) -> Image.Image:
    """A canvas of at least this size with even sides, as video needs."""
    return Image.new(
        "RGB", (width + width % 2, height + height % 2), (BACKGROUND, BACKGROUND, BACKGROUND)
    )


def _write(canvas: Image.Image, label: str, x: int, y: int) -> None:
    font = ImageFont.load_default(FONT_SIZE)
    ImageDraw.Draw(canvas).text((x, y), label, TEXT_COLOUR, font, anchor="mm")


def film_files(folder: Path, name: str) -> dict[str, Path]:
    """Paths by kind; `mp4` only with PyAV."""
    kinds = {"sheet": "png", "gif": "gif"} | ({"mp4": "mp4"} if can_write_mp4() else {})
    return {kind: folder / f"{name}.{ending}" for kind, ending in kinds.items()}


def write_film(film: Film, files: dict[str, Path], on_progress: OnProgress) -> None:
    """Write the files that `film_files` names."""
    pictures = animation(film)
    for number, (kind, path) in enumerate(files.items()):
        on_progress(number, path.name)
        if kind == "sheet":
            save_images(path, [sheet(film)])
        elif kind == "gif":
            save_images(path, pictures, FRAME_MS)
        else:
            write_mp4(path, pictures, FRAME_MS)
    on_progress(len(files), "done")
