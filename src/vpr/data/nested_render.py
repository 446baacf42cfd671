"""Rendering of nested worlds: a pure function of the values of a frame, and separate noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vpr.data.nested_spec import PHASES, SEED, World, draw_world

SIZE = 64
PERIOD = 16  # pixels after which a texture repeats
CONTRAST = 0.3  # between the light and the dark part of a texture

FIGURE_HUES = np.array(  # red, green, blue, yellow, magenta, cyan
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=np.float32
)
BACKDROP_HUES = np.array(  # orange, lime, teal, azure, violet, rose: between those of figures
    [[1, 0.5, 0], [0.5, 1, 0], [0, 1, 0.5], [0, 0.5, 1], [0.5, 0, 1], [1, 0, 0.5]],
    dtype=np.float32,
)
# Neighbours differ by ≥ 25 %.
BRIGHTNESS = {1: [1.0], 3: [1.0, 0.7, 0.45], 4: [1.0, 0.75, 0.55, 0.4]}
TINTS = [[1, 1, 1], [1, 0.65, 0.4], [0.45, 0.65, 1], [0.5, 1, 0.5]]  # white, warm, cool, green
WAVE = [1.0, 0.85, 0.7, 0.55, 0.4, 0.55, 0.7, 0.85]  # brightness of the fastest factor lighting

Floats = NDArray[np.float32]
Scene = dict[str, NDArray[Any]]  # rendering → (B, T) value; position → (B, T, 2) as (y, x)


@dataclass(frozen=True)
class SceneAssets:
    """The precomputed parts of the frames of a world; the first axis is the value of the factor."""

    backdrops: Floats  # (V, 3, SIZE, SIZE)
    textures: Floats  # (V, shifts, SIZE, SIZE), added to the backdrop
    shapes: Floats  # (V, D, D), how much of a pixel the figure covers
    colours: Floats  # (V, 3)
    light_values: Floats  # (V, 3), factors of the three channels


@lru_cache(maxsize=32)
def scene_assets(index: int) -> SceneAssets:
    """The precomputed parts of the world of this index."""
    world = draw_world(index)
    shifts = PHASES["shift"] if world.factors[0] == "shift" else 1
    scroll = [(step * world.scroll[0], step * world.scroll[1]) for step in range(shifts)]
    tiles = [_texture(kind) for kind in world.variants["texture"]]
    return SceneAssets(
        backdrops=np.stack([_backdrop(world, kind) for kind in world.variants["backdrop"]]),
        textures=np.stack([[np.roll(t, by, (0, 1)) for by in scroll] for t in tiles]),
        shapes=np.stack([_shape(kind, world.radius) for kind in world.variants["shape"]]),
        colours=0.06 + 0.9 * FIGURE_HUES[list(world.variants["colour"])],
        light_values=_light_values(world),
    )


def render(index: int, scene: Scene) -> Floats:
    """Frames (B, T, 3, SIZE, SIZE) of a scene, without noise; equal scenes give equal frames."""
    parts = scene_assets(index)
    count, length = scene["shape"].shape
    frames = np.empty((count * length, 3, SIZE, SIZE), dtype=np.float32)
    flat = {name: values.reshape(count * length, -1) for name, values in scene.items()}
    backdrop, texture, shift, shape, colour, lighting = (
        flat[name][:, 0].tolist()
        for name in ("backdrop", "texture", "shift", "shape", "colour", "lighting")
    )
    diameter = parts.shapes.shape[-1]
    corner = (flat["position"].astype(np.int64) - diameter // 2).tolist()
    dimmed = parts.light_values[:, None, :, None, None] * parts.colours[..., None, None]
    uncovered = 1 - parts.shapes
    # Frame by frame, so that a frame stays in the processor's cache until it is finished.
    for i, frame in enumerate(frames):
        np.add(parts.backdrops[backdrop[i]], parts.textures[texture[i], shift[i]], out=frame)
        frame *= parts.light_values[lighting[i]][:, None, None]
        y, x = corner[i]
        patch = frame[:, y : y + diameter, x : x + diameter]
        patch *= uncovered[shape[i]]
        patch += parts.shapes[shape[i]] * dimmed[lighting[i], colour[i]]
    return frames.reshape(count, length, 3, SIZE, SIZE)


def add_noise(index: int, frames: Floats, rng: np.random.Generator) -> None:
    """Add the distractor and the noise of a world to its frames, in place."""
    world = draw_world(index)
    count, length = frames.shape[:2]
    if world.distractor != "none":
        jumps = length if world.distractor == "jump" else 1
        place = rng.integers(SIZE - world.dot + 1, size=(count, jumps, 2))
        place = np.broadcast_to(place, (count, length, 2))
        shown = (rng.random((count, length)) < 0.5) | (world.distractor == "jump")
        for b, t in np.argwhere(shown):
            y, x = place[b, t]
            frames[b, t, :, y : y + world.dot, x : x + world.dot] = 1
    bank = _noise() * np.float32(world.noise)
    flat = frames.reshape(count * length, -1)
    starts = rng.integers(len(bank) - flat.shape[1] + 1, size=len(flat)).tolist()
    for frame, start in zip(flat, starts, strict=True):
        frame += bank[start : start + len(frame)]
        np.clip(frame, 0, 1, out=frame)


@lru_cache(maxsize=1)
def _noise() -> Floats:
    """Standard normal numbers, of which each frame uses a part with a random start.

    Drawing new numbers for every pixel would take longer than the rest of the rendering.
    """
    return np.random.default_rng(SEED).standard_normal(2**20, dtype=np.float32)


def _texture(kind: int) -> Floats:
    """Plain, stripes in four directions, checkerboard or dots: values ± CONTRAST / 2, or 0."""
    y, x = np.mgrid[:SIZE, :SIZE]
    half = PERIOD // 2
    high: list[NDArray[np.bool_]] = [
        y % PERIOD < half,
        x % PERIOD < half,
        (x + y) % PERIOD < half,
        (x - y) % PERIOD < half,
        (x % PERIOD < half) != (y % PERIOD < half),
        (x % PERIOD - 7.5) ** 2 + (y % PERIOD - 7.5) ** 2 < 5.5**2,
    ]
    if kind == 0:
        return np.zeros((SIZE, SIZE), dtype=np.float32)
    return np.where(high[kind - 1], CONTRAST / 2, -CONTRAST / 2).astype(np.float32)


def _backdrop(world: World, kind: int) -> Floats:
    """One colour, or one of six layouts of two colours: (3, SIZE, SIZE)."""
    hues = 0.2 + 0.35 * BACKDROP_HUES
    if world.backdrop == "colour":
        return np.broadcast_to(hues[kind][:, None, None], (3, SIZE, SIZE)).astype(np.float32)
    y, x = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    edge = np.maximum(abs(y), abs(x))
    layouts = [x < 0, y < 0, x + y < 0, abs(x) < 14, abs(y) < 14, edge < 20]
    one, two = (hues[hue % len(hues), :, None, None] for hue in (world.hue, world.hue + 3))
    mixed: Floats = np.where(layouts[kind], one, two)
    return mixed


def _shape(kind: int, radius: int) -> Floats:
    """Disc, square, triangle, cross, ring or diamond, with smooth edges: (D, D)."""
    fine, diameter = 4, 2 * radius + 1
    axis = ((np.arange(diameter * fine) + 0.5) / fine - diameter / 2) / radius
    y, x = axis[:, None], axis[None, :]
    distance = np.hypot(y, x)
    inside = [
        distance < 1,
        np.maximum(abs(y), abs(x)) < 0.85,
        (y < 0.8) & (y > 2 * abs(x) - 1),
        (np.minimum(abs(y), abs(x)) < 0.33) & (np.maximum(abs(y), abs(x)) < 1),
        (distance < 1) & (distance > 0.55),
        abs(y) + abs(x) < 1,
    ][kind]
    covered: Floats = inside.reshape(diameter, fine, diameter, fine).mean((1, 3), np.float32)
    return covered


def _light_values(world: World) -> Floats:
    if world.light == "wave":
        light_values = np.repeat(np.array(WAVE)[:, None], 3, 1)
    elif world.light == "tints":
        light_values = np.array(TINTS)[: world.light_values]
    else:
        light_values = np.repeat(np.array(BRIGHTNESS[world.light_values])[:, None], 3, 1)
    return light_values.astype(np.float32)
