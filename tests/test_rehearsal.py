"""The top level rehearses its events: what is gathered, what learns, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from vpr import rehearsal
from vpr.batches import Batches
from vpr.beliefs import Belief
from vpr.block import Block
from vpr.data import MovingBall, training_rng
from vpr.errors import VPRError
from vpr.model import VPR
from vpr.rehearsal import Events, gather, rehearse

Factory = Callable[..., Any]
BALL = MovingBall(size=16)


@pytest.fixture
def model(tiny_model: Factory) -> VPR:
    return tiny_model(2, seed=3, frame=BALL.frame, dtype=torch.float32)  # type: ignore[no-any-return]


def batches() -> Batches:
    return Batches(BALL, training_rng(7))


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(1)


@torch.no_grad()
def test_gathers_what_was_believed_at_each_event_that_could_be_foreseen(model: VPR) -> None:
    events = gather(model, batches(), sequences=5, length=4, parts=3, at_once=2)
    assert events is not None
    ours, row, passed_over = batches(), 0, 0
    for rows in (2, 2, 1):
        video = torch.cat([ours.next(rows, 4, 3) for _ in range(3)], 1)
        top = model.observe(video).levels[-1]
        for b in range(rows):
            evidence = top.evidence
            alone = evidence.unexpected[b] & ~evidence.expected[b]  # only CU spoke
            when = evidence.boundary[b] & ~alone
            passed_over += int((evidence.boundary[b] & alone).sum())
            assert when[0]  # the first frame, of which there is no evidence
            assert events.total[row] == when.sum()
            for found, wanted in zip(events.q, top.q, strict=True):
                torch.testing.assert_close(found[row, : when.sum()], wanted[b, when])
            row += 1
    assert row == len(events.total) == 5
    assert len(set(events.total.tolist())) > 1
    assert passed_over


def test_without_ce_all_events_are_gathered(tiny_model: Factory) -> None:
    model = tiny_model(2, seed=3, frame=BALL.frame, dtype=torch.float32, expected=False)
    events = gather(model, batches(), sequences=4, length=6, parts=2, at_once=4)
    assert events is not None
    with torch.no_grad():
        ours = batches()
        video = torch.cat([ours.next(4, 6, 2) for _ in range(2)], 1)
        boundary = model.observe(video).levels[-1].evidence.boundary
    assert torch.equal(events.total, boundary.sum(1))
    assert events.total.max() > 1


def in_a_circle(model: VPR, sequences: int = 20, count: int = 30) -> Events:
    """Three states that follow each other, from a random one on."""
    places = torch.eye(3)[:, : model.config.state_size] * 2
    turns = torch.arange(count) + torch.randint(3, (sequences, 1), generator=seeded())
    mean = places[turns % 3]
    return Events(Belief(mean, torch.full_like(mean, 0.2)), torch.full((sequences,), count))


def test_learns_to_jump(tiny_model: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "RATE", 1e-2)  # it is a small network that knows nothing yet
    model = tiny_model(2, seed=3, state_size=3, dtype=torch.float32)
    events, top = in_a_circle(model), model.blocks[-1]

    @torch.no_grad()
    def jumped(times: int) -> torch.Tensor:
        d = top.f_tran(events.q.mean[:, 0], torch.zeros(20, top.width))
        for _ in range(times):
            mean = top.p(d, torch.zeros_like(d)).mean
            d = top.f_tran(mean, d)
        return mean

    there = events.q.mean[:, 1]  # 31 jumps are 10 times round, and one
    before = (jumped(31) - there).norm(dim=1).mean()
    assert rehearse(model, events, 400, seeded())
    after = (jumped(31) - there).norm(dim=1).mean()
    assert before > 1
    assert after < 0.5


def test_nobody_else_learns(model: VPR) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    events = gather(model, batches(), sequences=4, length=4, parts=2, at_once=4)
    assert events is not None
    rehearse(model, events, 3, seeded())
    changed = {n for n, v in model.state_dict().items() if not torch.equal(v, before[n])}
    changed = {name for name in changed if not before[name].isnan().all()}
    assert {".".join(name.split(".")[1:3]) for name in changed} == {"1.f_tran", "1.p"}


def test_what_the_posterior_hears_of_the_past_stays(
    tiny_model: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is deaf to the past, which makes that term next to nothing, d moves much farther."""
    monkeypatch.setattr(rehearsal, "RATE", 1e-2)
    moved = []
    for loud in (1.0, 1e-4):
        model = tiny_model(2, seed=3, state_size=3, dtype=torch.float32)
        events, top = in_a_circle(model), model.blocks[-1]
        heard = [heard_of(top, events.q.mean)]
        with torch.no_grad():
            top.q.of_d.weight.mul_(loud)
        rehearse(model, events, 200, seeded())
        with torch.no_grad():
            top.q.of_d.weight.div_(loud)
        heard.append(heard_of(top, events.q.mean))
        moved.append(float((heard[1] - heard[0]).square().mean()))
    assert 0 < 3 * moved[0] < moved[1]


@torch.no_grad()
def heard_of(block: Block, s: torch.Tensor) -> torch.Tensor:  # (B, K, H)
    """What the past, states s (B, K, S) in their order, gives to the posterior."""
    d, heard = torch.zeros(len(s), block.width), []
    for each in s.unbind(1):
        d = block.f_tran(each, d)
        heard.append(block.q.of_d(d))
    return torch.stack(heard, 1)


def test_the_same_seed_gives_the_same_weights(tiny_model: Factory) -> None:
    ends = []
    for _ in range(2):
        model = tiny_model(2, seed=3, state_size=3, dtype=torch.float32)
        rehearse(model, in_a_circle(model), 5, seeded())
        ends.append(dict(model.named_parameters()))
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


def test_events_that_are_not_there_do_not_count(tiny_model: Factory) -> None:
    """What a row is filled up with changes nothing."""
    ends = []
    for filled in (0.0, 9.0):
        model = tiny_model(2, seed=3, state_size=3, dtype=torch.float32)
        events = in_a_circle(model)
        mean, total = events.q.mean.clone(), torch.where(torch.arange(20) % 2 == 0, 30, 6)
        mean[1::2, 6:] = filled
        rehearse(model, Events(Belief(mean, events.q.std), total), 2, seeded())
        ends.append(dict(model.named_parameters()))
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


def test_beliefs_that_are_no_numbers_are_not_learned_from(model: VPR) -> None:
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    mean = torch.full((4, 5, model.config.state_size), torch.nan)
    events = Events(Belief(mean, torch.ones_like(mean)), torch.full((4,), 5))
    with pytest.raises(VPRError, match="the gradient is nan at step 1 of rehearsal"):
        rehearse(model, events, 2, seeded())
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())


def test_can_be_stopped(model: VPR) -> None:
    told: list[int] = []

    def go_on(step: int) -> bool:
        told.append(step)
        return len(told) < 3

    assert gather(model, batches(), 4, 4, 5, 4, go_on) is None
    assert told == [0, 0, 0]
    events = gather(model, batches(), 4, 4, 2, 4)
    assert events is not None
    told.clear()
    assert not rehearse(model, events, 9, seeded(), go_on)
    assert told == [1, 2, 3]


def test_goes_through_sequences_in_windows(model: VPR, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where jumps have led is carried from window to window, and forgotten with new sequences."""
    begun: list[bool] = []
    window = rehearsal._window

    def spied(*words: Any) -> Any:
        begun.append(not any(d.any() for d in words[4]))
        return window(*words)

    monkeypatch.setattr(rehearsal, "_window", spied)
    monkeypatch.setattr(rehearsal, "WINDOW", 4)
    mean = torch.randn(6, 10, model.config.state_size, generator=seeded())
    events = Events(Belief(mean, torch.ones_like(mean)), torch.full((6,), 10))
    rehearse(model, events, 7, seeded())
    assert begun == [True, False, False, True, False, False, True]
