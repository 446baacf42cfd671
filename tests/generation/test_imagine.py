"""`imagine` against a literal loop, with all, no and some levels updating."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
import torch
from torch import Tensor

import vpr
from vpr.errors import VPRError
from vpr.generation.durations import Durations
from vpr.generation.event_clock import EventClock
from vpr.generation.imagine import Hazards, Imagined, imagine_steps
from vpr.model import VPR
from vpr.state import State, Trace
from vpr.utils.tree import tree_map

BATCH, SEEN, FRAMES = 4, 9, 12


def certain(p: float) -> Hazards:
    def hazards(state: State, clock: EventClock) -> Tensor:
        return torch.full(clock.ticks.shape, p, dtype=state.blocks[0].s.dtype)

    return hazards


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def equal(one: object, other: object) -> bool:
    same = tree_map(lambda a, b: torch.tensor(torch.equal(a, b)), one, other)
    return "False" not in repr(same)


@pytest.fixture(scope="module")
def model(tiny_model: Callable[..., VPR]) -> VPR:
    return tiny_model(levels=3, seed=11)


@pytest.fixture(scope="module")
def durations(model: VPR) -> Durations:
    """Untrained durations with varying probabilities."""
    torch.manual_seed(0)
    durations = Durations(model.config).to(model.device, model.dtype)
    for weight in durations.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return durations


@pytest.fixture(scope="module")
def trace(model: VPR, scenes: Callable[..., Tensor]) -> Trace:
    with torch.no_grad():
        return model.observe(scenes(BATCH, SEEN))


def literally(
    model: VPR, state: State, boundary: Tensor, noise: Tensor | None
) -> tuple[list[Tensor], list[list[Tensor]]]:
    """One sequence, plain ifs: its frames and the states s of all levels, given who moves (T, N).

    noise (T, N, S)."""
    d = [block.d_next for block in state.blocks]
    c, s = [block.c for block in state.blocks], [block.s for block in state.blocks]
    top = len(d) - 1
    decoded, states = [], []
    for t, moves in enumerate(boundary.tolist()):
        for n in range(top, -1, -1):
            if not moves[n]:
                continue
            c[n] = torch.zeros_like(c[n])
            if n < top:
                c[n] = model.blocks[n + 1].f_dec(c[n + 1], s[n + 1])
            p = model.blocks[n].p(d[n], c[n])
            s[n] = p.mean if noise is None else p.mean + p.std * noise[t, n]
            d[n] = model.blocks[n].f_tran(s[n], d[n])
        decoded.append(model.reconstruct(model.blocks[0].f_dec(c[0], s[0]))[0])
        states.append(list(s))
    return decoded, states


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("samples", [False, True])
@torch.no_grad()
def test_frames_are_those_of_a_literal_loop(
    model: VPR, trace: Trace, p: float, samples: bool
) -> None:
    imagined = vpr.imagine(
        model,
        trace.state,
        FRAMES,
        durations=certain(p),
        samples=samples,
        generator=seeded(),
    )
    generator, noise = seeded(), None
    if samples:  # what was drawn: first who moves, then the states, frame after frame
        drawn = []
        for _ in range(FRAMES):
            torch.rand(BATCH, 2, generator=generator, dtype=torch.float64)
            drawn.append(model.noise(BATCH, 1, generator)[0])
        noise = torch.stack(drawn)  # (T, N, B, S)
    for b in range(BATCH):
        alone = tree_map(lambda value, b=b: value[b : b + 1], trace.state)
        eps = None if noise is None else noise[:, :, b]
        decoded, states = literally(model, alone, imagined.boundary[b], eps)
        assert torch.allclose(imagined.frames[b], torch.stack(decoded))
        for n, s in enumerate(states[-1]):
            assert torch.allclose(imagined.state.blocks[n].s[b], s[0])


def test_higher_levels_are_constant_if_no_event_ends(model: VPR, trace: Trace) -> None:
    imagined = vpr.imagine(model, trace.state, FRAMES, durations=certain(0.0))
    assert imagined.boundary[..., 0].all()
    assert not imagined.boundary[..., 1:].any()
    assert equal(imagined.state.blocks[1:], trace.state.blocks[1:])
    clock = EventClock.of(trace)
    older = vpr.imagine(model, trace.state, FRAMES, durations=certain(0.0), clock=clock).clock
    assert torch.equal(older.ticks[:, 0], clock.ticks[:, 0] + FRAMES)
    assert torch.equal(older.ticks[:, 1], clock.ticks[:, 1])  # the clock of level 3 is level 2


def test_all_levels_update_if_every_event_ends(model: VPR, trace: Trace) -> None:
    imagined = vpr.imagine(model, trace.state, FRAMES, durations=certain(1.0))
    assert imagined.boundary.all()
    assert not imagined.clock.ticks.any()
    assert imagined.clock.seen.all()


def test_likeliest_endings_are_deterministic(model: VPR, trace: Trace) -> None:
    """An event ends when h > ½; for h of 0 or 1 this equals drawing."""
    for p, moves in ((0.0, False), (0.49, False), (0.51, True), (1.0, True)):
        boundary = vpr.imagine(
            model, trace.state, FRAMES, durations=certain(p), endings="likeliest"
        ).boundary
        assert (boundary[..., 1:] == moves).all()


def test_unknown_endings_raise(model: VPR, trace: Trace) -> None:
    with pytest.raises(VPRError, match="endings must be one of drawn, likeliest, got 'mean'"):
        vpr.imagine(model, trace.state, 1, durations=certain(0.5), endings="mean")  # type: ignore[arg-type]


def test_levels_are_nested(model: VPR, trace: Trace) -> None:
    boundary = vpr.imagine(model, trace.state, 200, durations=certain(0.5)).boundary
    assert not (boundary[..., 2] & ~boundary[..., 1]).any()
    assert boundary[..., 1].double().mean() == pytest.approx(0.5, abs=0.1)
    assert boundary[..., 2].double().mean() == pytest.approx(0.25, abs=0.1)


def test_shapes_and_values(model: VPR, durations: Durations, trace: Trace) -> None:
    imagined = vpr.imagine(
        model,
        trace.state,
        FRAMES,
        durations=durations,
        clock=EventClock.of(trace),
        generator=seeded(),
    )
    assert imagined.frames.shape == (BATCH, FRAMES, *model.config.frame)
    assert imagined.boundary.shape == (BATCH, FRAMES, 3)
    assert imagined.probability.shape == (BATCH, FRAMES, 2)
    assert torch.equal(imagined.probability[:, 0], durations(trace.state, EventClock.of(trace)))
    assert not imagined.probability.requires_grad
    assert torch.equal(imagined.state.time, trace.state.time + FRAMES)
    assert equal(imagined.state.windows, trace.state.windows)  # nothing was compared


@pytest.mark.parametrize("samples", [False, True])
def test_in_two_parts_as_in_one_go(
    model: VPR, durations: Durations, trace: Trace, samples: bool
) -> None:
    def go(state: State, frames: int, clock: EventClock, generator: torch.Generator) -> Imagined:
        return vpr.imagine(
            model,
            state,
            frames,
            durations=durations,
            clock=clock,
            samples=samples,
            generator=generator,
        )

    whole = go(trace.state, FRAMES, EventClock.of(trace), seeded())
    generator = seeded()
    first = go(trace.state, 5, EventClock.of(trace), generator)
    second = go(first.state, FRAMES - 5, first.clock, generator)
    assert torch.equal(torch.cat([first.boundary, second.boundary], 1), whole.boundary)
    assert torch.equal(torch.cat([first.probability, second.probability], 1), whole.probability)
    assert torch.allclose(torch.cat([first.frames, second.frames], 1), whole.frames)
    assert equal(second.state, whole.state)
    assert equal(second.clock, whole.clock)
    assert equal(go(trace.state, FRAMES, EventClock.of(trace), seeded()), whole)
    assert not equal(
        go(trace.state, FRAMES, EventClock.of(trace), seeded(1)).boundary, whole.boundary
    )


def test_the_model_is_not_changed(model: VPR, durations: Durations, trace: Trace) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = tree_map(torch.clone, trace.state)
    vpr.imagine(model, trace.state, FRAMES, durations=durations, samples=True)
    assert equal(state, trace.state)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]) or value.isnan().all()
    assert all(weight.grad is None for weight in model.parameters())


def test_observing_continues_after_imagination(
    model: VPR, trace: Trace, scenes: Callable[..., Tensor]
) -> None:
    """A state from priors is complete: comparisons can use it."""
    state = vpr.imagine(model, trace.state, 3, durations=certain(1.0)).state
    seen = model.observe(scenes(BATCH, 5, seed=1), state)
    assert not seen.levels[1].evidence.kl_static.isnan().any()
    now = state.blocks[1]
    static, change = model.blocks[1].hypotheses(
        now, torch.zeros(BATCH, model.config.width).double()
    )
    assert static.mean.shape == change.mean.shape == (BATCH, 2, model.config.state_size)
    assert torch.equal(now.cache.p.mean[:, 0], now.q.mean)


def test_without_ages_events_count_as_begun_unseen(
    model: VPR, durations: Durations, trace: Trace
) -> None:
    imagined = vpr.imagine(model, trace.state, 1, durations=durations)
    unknown = EventClock.unknown(BATCH, model.config.levels)
    assert torch.equal(imagined.probability[:, 0], durations(trace.state, unknown))


def test_without_pictures_it_is_the_same(model: VPR, durations: Durations, trace: Trace) -> None:
    ahead = list(islice(imagine_steps(model, trace.state, durations, generator=seeded()), FRAMES))
    imagined = vpr.imagine(model, trace.state, FRAMES, durations=durations, generator=seeded())
    assert torch.equal(torch.stack([now.boundary for now in ahead], 1), imagined.boundary)
    assert equal(ahead[-1].state, imagined.state)


def test_errors_are_one_line(
    model: VPR, durations: Durations, trace: Trace, tiny_model: Callable[..., VPR]
) -> None:
    with pytest.raises(VPRError, match="frames must be 1 or more, got 0"):
        vpr.imagine(model, trace.state, 0, durations=durations)
    with pytest.raises(VPRError, match="no frame to continue from"):
        vpr.imagine(model, model.initial(2), 3, durations=durations)
    with pytest.raises(VPRError, match="the state has 3 levels, not 2"):
        vpr.imagine(tiny_model(levels=2), trace.state, 3, durations=durations)
    with pytest.raises(VPRError, match=r"the clock must have shape \(4, 2\), got \(3, 2\)"):
        vpr.imagine(model, trace.state, 3, durations=durations, clock=EventClock.unknown(3, 3))
