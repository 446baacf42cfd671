"""Imagined futures, frame by frame: a level updates from its prior when its event ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from vpr.block import Block, BlockState
from vpr.errors import VPRError
from vpr.generation.event_clock import EventClock
from vpr.model import VPR
from vpr.state import State
from vpr.utils.checks import check_count, check_state
from vpr.utils.tree import shapes_in_repr, tree_put, tree_rows

DECODE_BATCH = 512  # frames decoded at once, which bounds the memory
Endings = Literal["drawn", "likeliest"]  # events end by chance, or when that is more likely
Hazards = Callable[[State, EventClock], Tensor]  # → (B, N − 1), like `Durations`


@shapes_in_repr
class Imagined(NamedTuple):
    """The result of `imagine`."""

    frames: Tensor  # (B, T, *frame)
    boundary: Tensor  # (B, T, N) which levels moved, level 1 first
    probability: Tensor  # (B, T, N − 1) that levels 2 to N move, given that the one below does
    state: State  # after the last frame, for `imagine`, `step` or `observe`
    clock: EventClock  # after the last frame


@shapes_in_repr
class ImaginedStep(NamedTuple):
    """One imagined frame before decoding."""

    c0: Tensor  # (B, D) the input of the decoder
    boundary: Tensor  # (B, N)
    probability: Tensor  # (B, N − 1)
    state: State
    clock: EventClock


@torch.no_grad()
def imagine(
    model: VPR,
    state: State,
    frames: int,
    *,
    durations: Hazards,
    clock: EventClock | None = None,
    samples: bool = False,
    endings: Endings = "drawn",
    generator: torch.Generator | None = None,
) -> Imagined:
    """Imagine the next `frames` frames after a state, for every sequence in it.

    `durations` gives the probability that an event ends. With `endings="drawn"` the end is drawn
    with this probability, with "likeliest" an event ends when the probability exceeds ½. States are
    the means of their priors, or `samples` of them. `clock` holds the ages of the events of the
    state (`EventClock.of`); without it their beginnings count as not observed.
    """
    check_count("frames", frames)
    future = imagine_steps(
        model,
        state,
        durations,
        clock=clock,
        samples=samples,
        endings=endings,
        generator=generator,
    )
    parts = []
    for step in islice(future, frames):
        parts.append(step[:3])  # without the intermediate states
    c0, boundary, probability = (torch.stack(each, 1) for each in zip(*parts, strict=True))
    return Imagined(_decode(model, c0), boundary, probability, step.state, step.clock)


@torch.no_grad()
def imagine_steps(
    model: VPR,
    state: State,
    durations: Hazards,
    *,
    clock: EventClock | None = None,
    samples: bool = False,
    endings: Endings = "drawn",
    generator: torch.Generator | None = None,
) -> Iterator[ImaginedStep]:
    """`imagine` as an endless iterator, without decoding."""
    if endings not in get_args(Endings):
        raise VPRError(f"endings must be one of {', '.join(get_args(Endings))}, got {endings!r}")
    batch, levels = len(state.time), model.config.levels
    clock = clock if clock is not None else EventClock.unknown(batch, levels).to(model.device)
    _check(model, state, clock)
    first = model.levels()[0]
    while True:
        h = durations(state, clock)
        moved = _nested(_drawn(h, generator) if endings == "drawn" else h > 0.5)
        noise = model.noise(batch, 1, generator)[0] if samples else None
        state, clock = predict(model, state, moved, noise), clock.after(moved, imagined=True)
        level_one = state.blocks[0]
        yield ImaginedStep(first.f_dec(level_one.c, level_one.s), moved, h, state, clock)


@torch.no_grad()
def predict(model: VPR, state: State, moved: Tensor, noise: Tensor | None = None) -> State:
    """The state after the next frame, without observing it, if the levels `moved` (B, N) update.

    The new states are the means of their priors, or samples with noise (N, B, S).
    """
    blocks = _move(model.levels(), state.blocks, moved, noise)
    return state._replace(blocks=blocks, time=state.time + 1)


def _drawn(h: Tensor, generator: torch.Generator | None) -> Tensor:  # (B, N − 1) twice
    """Which events end, each with its probability; drawn on the CPU so that seeds are portable."""
    drawn = torch.rand(h.shape, generator=generator, dtype=h.dtype)
    return drawn.to(h.device) < h


def _nested(ends: Tensor) -> Tensor:  # (B, N − 1) → (B, N)
    """Which levels move: level 1 always, level n if its event ends and level n−1 moves."""
    return torch.cat([torch.ones_like(ends[:, :1]), ends], 1).cumprod(1).bool()


def _move(
    nets: list[Block], blocks: tuple[BlockState, ...], moved: Tensor, noise: Tensor | None
) -> tuple[BlockState, ...]:
    """One step of the levels `moved` (B, N), top-down, with c^n ← f_dec(s^{n+1}, c^{n+1}).

    noise (N, B, S).
    """
    for n in reversed(range(len(blocks))):
        rows = moved[:, n].nonzero().squeeze(1)
        if len(rows):
            eps = noise[n] if noise is not None else None
            above = tuple((block.c, block.s) for block in blocks[n + 1 : n + 2])
            d, above, eps = tree_rows((blocks[n].d_next, above, eps), rows, len(moved))
            c = nets[n + 1].f_dec(*above[0]) if above else torch.zeros_like(d)
            new = _next_event(nets[n], d, c, eps)
            blocks = (*blocks[:n], tree_put(blocks[n], rows, new, len(moved)), *blocks[n + 1 :])
    return blocks


def _next_event(block: Block, d: Tensor, c: Tensor, noise: Tensor | None) -> BlockState:
    """The next event of a level, by its prior."""
    p = block.p(d, c)
    s = p.rsample(noise)
    return block.update_from_prior(d, c, s, p, block.f_tran(s, d))


def _decode(model: VPR, c0: Tensor) -> Tensor:  # (B, T, D) → (B, T, *frame)
    flat = c0.flatten(0, 1)
    starts = range(0, len(flat), DECODE_BATCH)
    decoded = torch.cat([model.reconstruct(flat[start : start + DECODE_BATCH]) for start in starts])
    return decoded.reshape(*c0.shape[:2], *model.config.frame)


def _check(model: VPR, state: State, clock: EventClock) -> None:
    check_state(state, model.config)
    if bool((state.time == 0).any()):
        raise VPRError("the state has no frame to continue from: observe some frames first")
    want, shape = (len(state.time), model.config.levels - 1), tuple(clock.ticks.shape)
    if shape != want:
        raise VPRError(f"the clock must have shape {want}, got {shape}")
