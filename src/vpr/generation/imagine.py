"""The future frame by frame: levels move by their priors, each when its event is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from vpr.block import Block, BlockState
from vpr.errors import VPRError
from vpr.generation.event_clock import Ages
from vpr.model import VPR
from vpr.state import State
from vpr.utils.checks import check_count, check_state
from vpr.utils.tree import tree_put, tree_rows

PAINTED = 512  # frames decoded at once: bounds the memory
Endings = Literal["drawn", "likeliest"]  # when an event ends: by chance, or when that is likelier
Hazards = Callable[[State, Ages], Tensor]  # (B, N − 1): `Durations`, or whatever answers like it


class Imagined(NamedTuple):
    """What `imagine` returns."""

    frames: Tensor  # (B, T, *frame)
    boundary: Tensor  # (B, T, N) who moved, level 1 first
    probability: Tensor  # (B, T, N − 1) that levels 2 to N move, given that the one below does
    state: State  # after the last frame: imagine on from here, or show it frames again
    ages: Ages  # of its events


class Moment(NamedTuple):
    """One imagined frame, not painted yet."""

    c0: Tensor  # (B, D) what the decoder paints from
    boundary: Tensor  # (B, N)
    probability: Tensor  # (B, N − 1)
    state: State
    ages: Ages


@torch.no_grad()
def imagine(
    model: VPR,
    state: State,
    frames: int,
    *,
    durations: Hazards,
    ages: Ages | None = None,
    samples: bool = False,
    endings: Endings = "drawn",
    generator: torch.Generator | None = None,
) -> Imagined:
    """So many frames on from a state, for every sequence in it.

    The end of an event is drawn from its probability, or comes when that is more likely than not
    (`endings`); states are the means of their priors, or `samples` of them. `ages` are those of the
    state's events (`Ages.of`); without them the events count as begun unseen.
    """
    check_count("frames", frames)
    ahead = foresee(
        model,
        state,
        durations,
        ages=ages,
        samples=samples,
        endings=endings,
        generator=generator,
    )
    told = []
    for moment in islice(ahead, frames):
        told.append(moment[:3])  # without the states on the way
    c0, boundary, probability = (torch.stack(each, 1) for each in zip(*told, strict=True))
    return Imagined(_paint(model, c0), boundary, probability, moment.state, moment.ages)


@torch.no_grad()
def foresee(
    model: VPR,
    state: State,
    durations: Hazards,
    *,
    ages: Ages | None = None,
    samples: bool = False,
    endings: Endings = "drawn",
    generator: torch.Generator | None = None,
) -> Iterator[Moment]:
    """`imagine` without pictures and without an end."""
    if endings not in get_args(Endings):
        raise VPRError(f"endings must be one of {', '.join(get_args(Endings))}, got {endings!r}")
    batch, levels = len(state.time), model.config.levels
    ages = ages if ages is not None else Ages.unknown(batch, levels).to(state.time.device)
    _check(model, state, ages)
    first: Block = model.blocks[0]  # type: ignore[assignment]
    while True:
        h = durations(state, ages)
        moved = _who_moves(_drawn(h, generator) if endings == "drawn" else h > 0.5)
        noise = model.noise(batch, 1, generator)[0] if samples else None
        state, ages = dream(model, state, moved, noise), ages.after(moved, dreamt=True)
        level_one = state.blocks[0]
        yield Moment(first.f_dec(level_one.c, level_one.s), moved, h, state, ages)


@torch.no_grad()
def dream(model: VPR, state: State, moved: Tensor, noise: Tensor | None = None) -> State:
    """One frame on without seeing it, when it is known which levels `moved` (B, N), 1 first.

    Their states are the means of their priors, or drawn with noise (N, B, S).
    """
    nets: list[Block] = list(model.blocks)  # type: ignore[arg-type]
    blocks = _move(nets, state.blocks, moved, noise)
    return state._replace(blocks=blocks, time=state.time + 1)


def _drawn(h: Tensor, generator: torch.Generator | None) -> Tensor:  # (B, N − 1) twice
    """Which events end, each with its probability."""
    drawn = torch.rand(h.shape, generator=generator, dtype=h.dtype)
    return drawn.to(h.device) < h  # drawn on the CPU: the same on every machine


def _who_moves(willing: Tensor) -> Tensor:  # (B, N − 1) → (B, N)
    """Level 1 always; level n if its event ends and level n−1 moves."""
    return torch.cat([torch.ones_like(willing[:, :1]), willing], 1).cumprod(1).bool()


def _move(
    nets: list[Block], blocks: tuple[BlockState, ...], moved: Tensor, noise: Tensor | None
) -> tuple[BlockState, ...]:
    """One jump of the levels that `moved` (B, N), top-down: c^n ← f_dec(s^{n+1}, c^{n+1}) is new.

    noise (N, B, S).
    """
    for n in reversed(range(len(blocks))):
        rows = moved[:, n].nonzero().squeeze(1)
        if len(rows):
            eps = noise[n] if noise is not None else None
            above = tuple((block.c, block.s) for block in blocks[n + 1 : n + 2])
            d, above, eps = tree_rows((blocks[n].d_next, above, eps), rows, len(moved))
            c = nets[n + 1].f_dec(*above[0]) if above else torch.zeros_like(d)
            new = _jump(nets[n], d, c, eps)
            blocks = (*blocks[:n], tree_put(blocks[n], rows, new, len(moved)), *blocks[n + 1 :])
    return blocks


def _jump(block: Block, d: Tensor, c: Tensor, noise: Tensor | None) -> BlockState:
    """The next event of a level, as its prior has it."""
    p = block.p(d, c)
    s = p.rsample(noise)
    return block.imagined(d, c, s, p, block.f_tran(s, d))


def _paint(model: VPR, c0: Tensor) -> Tensor:  # (B, T, D) → (B, T, *frame)
    flat = c0.flatten(0, 1)
    starts = range(0, len(flat), PAINTED)
    painted = torch.cat([model.reconstruct(flat[start : start + PAINTED]) for start in starts])
    return painted.reshape(*c0.shape[:2], *model.config.frame)


def _check(model: VPR, state: State, ages: Ages) -> None:
    check_state(state, model.config)
    if bool((state.time == 0).any()):
        raise VPRError("the state has seen no frame to go on from: observe a few first")
    want, shape = (len(state.time), model.config.levels - 1), tuple(ages.ticks.shape)
    if shape != want:
        raise VPRError(f"ages must have shape {want}, got {shape}")
