"""A level goes through the events of a sequence by its own jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import vpr
from vpr.beliefs import Belief, kl
from vpr.events import Always
from vpr.foresight import foresight
from vpr.model import VPR
from vpr.schedule import Weights

Factory = Callable[..., Any]


@pytest.fixture(autouse=True)
def never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an untrained level foresees is far from what comes."""
    monkeypatch.setattr("vpr.foresight.LOST", torch.inf)


def asked(model: VPR, video: Tensor, noise: Tensor | None = None) -> Tensor:
    before = model.initial(len(video))
    return foresight(model, before, model.observe(video, before, noise))[0]


def test_at_the_top_it_is_a_rollout(tiny_model: Factory, scenes: Factory) -> None:
    """Held against the beliefs of `vpr.rollout`, which starts after the first frame."""
    model, video = tiny_model(3, seed=3), scenes()
    model.rule = Always()
    believed = model.observe(video).levels[2].q
    made = vpr.rollout(model, model.observe(video[:, :1]).state, 3, video.shape[1] - 1)
    apart = kl(Belief(believed.mean[:, 1:], believed.std[:, 1:]), made.beliefs)
    wanted = apart.sum() / (video.shape[0] * video.shape[1])
    torch.testing.assert_close(asked(model, video)[1], wanted)


def test_the_second_event_is_foreseen_as_in_the_elbo(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(3, seed=3), scenes(length=2)
    model.rule = Always()
    trace = model.observe(video)
    wanted = torch.stack([level.kl[:, 1].sum() / level.kl.numel() for level in trace.levels[1:]])
    torch.testing.assert_close(asked(model, video), wanted)


def test_each_sequence_has_its_own_events(
    tiny_model: Factory, scenes: Factory, draw: Factory
) -> None:
    """Sequences with fewer events than others are filled up, and that does not count."""
    model = tiny_model(3, seed=3)
    video, noise = scenes(), draw(model)
    counts = model.observe(video, noise=noise).levels[1].evidence.boundary.sum(1)
    assert len(set(counts.tolist())) > 1
    together, led = foresight(model, model.initial(3), model.observe(video, noise=noise))
    alone = []
    for b in range(3):
        trace = model.observe(video[b : b + 1], noise=noise[:, :, b : b + 1])
        alone.append(foresight(model, model.initial(1), trace))
    torch.testing.assert_close(together, torch.stack([each for each, _ in alone]).mean(0))
    for n, d in enumerate(led):
        torch.testing.assert_close(d, torch.cat([each[n] for _, each in alone]))


def test_a_level_that_is_lost_is_told_where_it_is(
    tiny_model: Factory, scenes: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against jumps one by one; where one leads too far away, what was seen takes its place."""
    model, video = tiny_model(2, seed=3), scenes()
    model.rule = Always()
    frames, level = video.shape[0] * video.shape[1], model.observe(video).levels[1]
    lost = asked(model, video).item() * frames / (frames - len(video))  # the mean of the jumps
    monkeypatch.setattr("vpr.foresight.LOST", lost)
    block, nothing, wanted, told = model.blocks[1], model.initial(1).blocks[1].d[0], 0.0, 0
    for b in range(len(video)):
        d = block.f_tran(level.s[b, 0], nothing)
        for k in range(1, video.shape[1]):
            p = block.p(d, nothing)
            apart = kl(Belief(level.q.mean[b, k], level.q.std[b, k]), p).item()
            found = apart <= lost
            told += not found
            wanted += apart / frames if found else 0.0
            d = block.f_tran(p.mean if found else level.s[b, k], d)
    assert wanted > 0
    assert told > 0
    assert asked(model, video).item() == pytest.approx(wanted)


@pytest.mark.parametrize("rule", ["always", "subjective"])
def test_parts_make_up_the_whole(
    tiny_model: Factory, scenes: Factory, draw: Factory, rule: str
) -> None:
    """Jumps go on from one part to the next, as if nobody had cut the sequence."""
    model, cut = tiny_model(3, seed=3, rule=rule), 4
    video, noise = scenes(), draw(model)
    whole, end = foresight(model, model.initial(3), model.observe(video, noise=noise))
    first = model.observe(video[:, :cut], noise=noise[:cut])
    begun, led = foresight(model, model.initial(3), first)
    rest = model.observe(video[:, cut:], first.state, noise[cut:])
    went_on, last = foresight(model, first.state, rest, led)
    length = video.shape[1]
    torch.testing.assert_close((cut * begun + (length - cut) * went_on) / length, whole)
    torch.testing.assert_close(last, end)
    if rule == "always":
        anew, _ = foresight(model, first.state, rest)
        assert not torch.allclose(anew, went_on)


def test_only_those_who_foresee_learn_from_it(
    tiny_model: Factory, scenes: Factory, draw: Factory
) -> None:
    model = tiny_model(3, seed=3)
    asked(model, scenes(), draw(model)).sum().backward()
    learned = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert {".".join(name.split(".")[1:3]) for name in learned} == {
        f"{n}.{part}" for n in (1, 2) for part in ("f_tran", "p")
    }


def test_is_part_of_the_loss_but_not_of_the_elbo(
    tiny_model: Factory, scenes: Factory, draw: Factory
) -> None:
    model = tiny_model(3, seed=3)
    video, noise = scenes(), draw(model)
    beta = (1.0, 2.0, 3.0)
    plain, more = (
        model.loss(video, noise=noise, weights=Weights(1.0, beta, foresight=each))
        for each in (0.0, 0.5)
    )
    two, three = asked(model, video, noise).tolist()
    extra = 0.5 * (2 * two + 3 * three)  # β of each level, as its KL
    assert extra > 0
    assert more.total.item() == pytest.approx(plain.total.item() + extra)
    assert more.elbo.item() == plain.elbo.item()


def test_nothing_happens_twice_in_a_held_level(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(2, seed=3, rule="clockwork", intervals=(1, 99)), scenes()
    assert asked(model, video).tolist() == [0.0]


def test_one_level_has_none_to_foresee(tiny_model: Factory, scenes: Factory) -> None:
    model, weights = tiny_model(1), Weights(1.0, (1.0,), foresight=1.0)
    assert model.loss(scenes(), weights=weights).total == model.loss(scenes()).total
