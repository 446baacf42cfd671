"""The event clock against a count by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from vpr.generation.event_clock import HISTORY, EventClock
from vpr.model import VPR
from vpr.state import Trace


def by_hand(trace: Trace) -> tuple[list[list[int]], list[list[bool]], list[list[list[int]]]]:
    """The clock of a trace from the first frame, per sequence and level."""
    marks = [level.evidence.boundary.tolist() for level in trace.levels]  # [level][sequence][frame]
    ticks, seen, past = [], [], []
    for b in range(len(trace.c0)):
        ticks.append([])
        seen.append([])
        past.append([])
        for below, own in pairwise(marks):
            last = max(t for t, updated in enumerate(own[b]) if updated)
            ticks[-1].append(sum(below[b][last + 1 :]))
            seen[-1].append(last > 0)
            later = list(zip(below[b], own[b], strict=True))[:0:-1]  # the latest first
            updates = [1 if updated else -1 for tick, updated in later if tick]
            past[-1].append((updates + [0] * HISTORY)[:HISTORY])
    return ticks, seen, past


def watched(tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]) -> tuple[VPR, Tensor]:
    return tiny_model(levels=3, seed=11), scenes(batch=6, length=HISTORY + 6)


def test_ticks_are_updates_of_the_level_below(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model, video = watched(tiny_model, scenes)
    for length in range(1, video.shape[1] + 1):
        trace = model.observe(video[:, :length])
        clock = EventClock.of(trace)
        assert tuple(each.tolist() for each in clock[:3]) == by_hand(trace)
    assert clock.ticks.max() > 1
    assert clock.past.ne(0).all(2).any()  # longer than what is remembered
    sooner = EventClock.of(model.observe(video[:, :4]))
    assert sooner.seen.any()
    assert not sooner.seen.all()


def test_reset_applies_to_the_selected_sequences() -> None:
    counted = torch.ones(2, 2, dtype=torch.bool)
    past = torch.ones(2, 2, HISTORY, dtype=torch.int8)
    clock = EventClock(torch.tensor([[3, 1], [2, 2]]), counted, past, ~counted.any(1))
    forgot = clock.reset(torch.tensor([True, False]))
    assert forgot.ticks.tolist() == [[0, 0], [2, 2]]
    assert forgot.seen.tolist() == [[False, False], [True, True]]
    assert forgot.past[0].eq(0).all()
    assert forgot.past[1].eq(1).all()


def test_a_trace_in_two_parts(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model, video = watched(tiny_model, scenes)
    first = model.observe(video[:, :7])
    second = model.observe(video[:, 7:], first.state)
    whole = EventClock.of(model.observe(video))
    parts = EventClock.of(second, EventClock.of(first))
    assert torch.equal(parts.ticks, whole.ticks)
    assert torch.equal(parts.seen, whole.seen)
    assert torch.equal(parts.past, whole.past)


def test_a_later_part_knows_only_events_that_began_in_it(
    tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
) -> None:
    model, video = watched(tiny_model, scenes)
    second = model.observe(video[:, 7:], model.observe(video[:, :7]).state)
    whole, alone = EventClock.of(model.observe(video)), EventClock.of(second)
    assert torch.equal(alone.ticks[alone.seen], whole.ticks[alone.seen])
    assert (alone.ticks <= whole.ticks).all()
    began = torch.stack([level.evidence.boundary.any(1) for level in second.levels[1:]], -1)
    assert torch.equal(alone.seen, began)
