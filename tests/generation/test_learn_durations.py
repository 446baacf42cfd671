"""Durations are learned from the model's boundaries, without using later frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.conftest import FRAME, tiny_run
from vpr import VPR, VPRError, imagine
from vpr.data import Batch, MovingBall
from vpr.events import Clockwork, Decision
from vpr.generation import learn_durations
from vpr.generation.durations import MAX_AGE, Durations
from vpr.generation.event_clock import HISTORY, EventClock
from vpr.generation.imagine import imagine_steps, predict
from vpr.generation.learn_durations import examples, fit_durations, with_state_noise
from vpr.pretrained import load_durations, save_durations
from vpr.state import State
from vpr.utils.tree import tree_map


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_durations, "STEPS", 5)


@pytest.fixture
def model() -> VPR:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return VPR(tiny_run(1, levels=3).model)


class Noise:
    """Pictures without information."""

    name, frame = "noise", FRAME

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        frames = rng.random((count, length, *self.frame), dtype=np.float32)
        return Batch(frames, {}, {})


@dataclass
class Periodic:
    """Level 2 updates every third frame and level 3 at every second of these; each sequence
    begins somewhere else."""

    window = 1

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        period = {2: 3, 3: 6}[level]
        boundary = (time + torch.arange(len(time))) % period == 0
        neither = torch.zeros_like(boundary)
        return Decision(neither, neither, boundary, torch.full_like(typical_kl, torch.nan))


def learned(
    model: VPR, rule: Periodic, sequences: int, monkeypatch: pytest.MonkeyPatch
) -> Durations:
    monkeypatch.setattr(learn_durations, "STEPS", 400)
    model.rule = rule
    return fit_durations(model, Noise(), sequences=sequences, length=32)


def test_a_regular_world_is_learned_exactly(
    tiny_model: Callable[..., VPR], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end is certain if the beginning was observed, otherwise random."""
    model = tiny_model(levels=3, dtype=torch.float32)
    durations = learned(model, Periodic(), 64, monkeypatch)
    with torch.no_grad():
        state = model.observe(torch.rand(12, 20, *FRAME)).state
        for ticks, wanted in ((0, 0.0), (1, 0.0), (2, 1.0)):
            h = durations(state, seen(ticks, 3, len(state.time)))
            assert h[:, 0].mean() == pytest.approx(wanted, abs=0.1)
        for ticks, wanted in ((0, 0.0), (1, 1.0)):
            h = durations(state, seen(ticks, 2, len(state.time)))
            assert h[:, 1].mean() == pytest.approx(wanted, abs=0.1)
        uncounted = durations(state, EventClock.unknown(len(state.time), 3))
        assert uncounted[:, 0].mean() == pytest.approx(1 / 3, abs=0.1)
        assert uncounted[:, 1].mean() == pytest.approx(1 / 2, abs=0.1)
        later = imagine(model, state, 40, durations=durations).boundary[:, 12:]
    assert later[..., 1].float().mean() == pytest.approx(1 / 3, abs=0.03)
    assert later[..., 2].float().mean() == pytest.approx(1 / 6, abs=0.03)


def seen(ticks: int, period: int, batch: int) -> EventClock:
    """A clock some ticks after an update, with regular updates before."""
    counted = torch.ones(batch, 2, dtype=torch.bool)
    due = (torch.arange(HISTORY) - ticks) % period == 0
    past = torch.where(due, 1, -1).to(torch.int8).expand(batch, 2, HISTORY)
    return EventClock(torch.full((batch, 2), ticks), counted, past, ~counted.any(1))


class Late(Periodic):
    """Level 2 updates every third frame, and sometimes a frame too late."""

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        row = torch.arange(len(time))
        due = (time + row) // 3
        late = (due % 2 == 1) & ((due * due // 8 + row) % 2 == 0)
        return super().decide(level, time - late.long(), kl_static, kl_change, typical_kl)


def test_a_late_event_does_not_break_the_rhythm(
    tiny_model: Callable[..., VPR], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two updates of the same age one was late, so the next one comes earlier after it."""
    model = tiny_model(levels=2, dtype=torch.float32)
    durations = learned(model, Late(), 128, monkeypatch)
    with torch.no_grad():
        state = model.observe(torch.rand(12, 20, *FRAME)).state
        due = durations(state, counted(12, {0, 3, 6, 10}, until=12)).mean()
        early = durations(state, counted(12, {0, 3, 6, 9}, until=11)).mean()
    assert early < 0.2
    assert due > 0.6


def test_noise_is_added_to_states_only() -> None:
    inputs = torch.rand(6, 9)
    given = inputs.clone()
    noisy = with_state_noise(inputs, 4, torch.Generator().manual_seed(0))
    assert torch.equal(inputs, given)
    assert torch.equal(noisy[:, 4:], inputs[:, 4:])
    assert (noisy[:, :4] != inputs[:, :4]).all()
    many = with_state_noise(torch.zeros(10_000, 3), 2, torch.Generator().manual_seed(0))
    assert many[:, :2].std(0).tolist() == pytest.approx([learn_durations.STATE_NOISE] * 2, rel=0.05)


def counted(batch: int, updates: set[int], until: int) -> EventClock:
    clock = EventClock.unknown(batch, 2)
    for t in range(until):
        clock = clock.after(torch.tensor([True, t in updates]).expand(batch, 2))
    return clock


@pytest.mark.usefixtures("quick")
def test_the_model_is_not_changed(model: VPR) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    fit_durations(model, MovingBall(size=16), sequences=4, length=8)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]) or value.isnan().all()
    assert all(weight.grad is None for weight in model.parameters())


@pytest.mark.usefixtures("quick")
def test_own_seed_is_used_and_the_global_one_unchanged(model: VPR) -> None:
    state = torch.get_rng_state()
    fits = [
        fit_durations(model, MovingBall(size=16), sequences=4, length=8, seed=seed).state_dict()
        for seed in (0, 0, 1)
    ]
    assert torch.equal(torch.get_rng_state(), state)
    name = "heads.0.layers.0.weight"
    assert torch.equal(fits[0][name], fits[1][name])
    assert not torch.equal(fits[0][name], fits[2][name])


def test_examples_are_the_moments_at_which_a_level_could_update(model: VPR) -> None:
    video = torch.rand(5, 9, *model.config.frame)
    durations = Durations(model.config)
    two, three = examples(model, durations, video)
    with torch.no_grad():
        marks = [level.evidence.boundary[:, 1:] for level in model.observe(video).levels]
    assert len(two.changed) == 5 * 8
    assert two.changed.sum() == marks[1].sum()
    assert len(three.changed) == marks[1].sum()
    assert three.changed.sum() == marks[2].sum()


def test_inputs_are_known_before_the_frame(model: VPR) -> None:
    """Another last frame gives other outcomes at most."""
    video, durations = torch.rand(5, 9, *model.config.frame), Durations(model.config)
    other = video.clone()
    other[:, -1] = torch.rand_like(other[:, -1])
    level, twin = examples(model, durations, video)[0], examples(model, durations, other)[0]
    assert torch.equal(level.inputs, twin.inputs)


def test_inputs_of_each_head(model: VPR) -> None:
    durations = Durations(model.config)
    with torch.no_grad():
        state = model.observe(torch.rand(4, 9, *model.config.frame)).state
    imagined = torch.tensor([True, False, False, True])
    ticks = torch.tensor([[3, 0]] * 3 + [[MAX_AGE + 5, 0]])
    past = torch.randint(-1, 2, (4, 2, HISTORY), dtype=torch.int8)
    seen = torch.tensor([[True, False]] * 4)
    two, three = durations.inputs(state, EventClock(ticks, seen, past, imagined))
    clock = torch.zeros(4, 2 * MAX_AGE)
    clock[:3, MAX_AGE + 3], clock[3, -1] = 1, 1
    one, own, top = state.blocks
    two_states = torch.cat([own.s, top.s], -1)
    bit = imagined.unsqueeze(1).float()
    assert durations.state_inputs == [two_states.shape[1], top.s.shape[1]]
    before = past.float()
    assert torch.equal(two, torch.cat([own.s, top.s, one.d_next, clock, before[:, 0], bit], -1))
    clock = torch.zeros(4, 2 * MAX_AGE)
    clock[:, 0] = 1
    assert torch.equal(three, torch.cat([top.s, own.d_next, clock, before[:, 1], bit], -1))


def test_imagined_examples_are_added_to_observed_ones(model: VPR) -> None:
    """Same outcomes; inputs come from the priors until the state is observed again."""
    video, durations = torch.rand(5, 9, *model.config.frame), Durations(model.config)
    seen = examples(model, durations, video)[0]
    both = examples(model, durations, video, imagined_frames=4)[0]
    pairs = both.inputs.view(8, 2, 5, -1)  # level 1 moves at every frame: all are used
    assert torch.equal(pairs[:, 0].flatten(0, 1), seen.inputs)
    assert torch.equal(both.changed.view(8, 2, 5)[:, 1], both.changed.view(8, 2, 5)[:, 0])
    observed, imagined = pairs[..., :-1].unbind(1)
    assert (pairs[:, 1, :, -1] == 1).all()
    same = (observed == imagined).all(-1)  # (8, 5)
    awake = [[t == 0 or (t + row) % 4 == 0 for row in range(5)] for t in range(8)]
    assert same.tolist() == awake


def test_imagined_examples_equal_imagination(model: VPR) -> None:
    with torch.no_grad():
        state = model.observe(torch.rand(3, 9, *model.config.frame)).state
        ahead = imagine_steps(model, state, lambda s, a: torch.ones(3, 2))
        moved = torch.ones(3, 3, dtype=torch.bool)
        for moment in islice(ahead, 3):
            state = predict(model, state, moved)
            pairs = zip(leaves(state), leaves(moment.state), strict=True)
            assert all(torch.equal(*pair) for pair in pairs)
            assert moment.clock.imagined.all()


def leaves(state: State) -> list[Tensor]:
    found: list[Tensor] = []
    tree_map(lambda tensor: found.append(tensor) or tensor, state)
    return found


@pytest.mark.usefixtures("quick")
def test_saved_and_loaded(model: VPR, tmp_path: Path) -> None:
    model.save_pretrained(str(tmp_path))
    with pytest.raises(VPRError, match=r"has no durations\.safetensors"):
        load_durations(tmp_path, model)
    durations = fit_durations(model, MovingBall(size=16), sequences=4, length=8)
    save_durations(durations, model, tmp_path)
    again = load_durations(tmp_path, VPR.from_pretrained(str(tmp_path)))
    video = torch.rand(2, 5, *model.config.frame)
    state, clock = observed(model, video), EventClock.unknown(2, 3)
    assert torch.equal(durations(state, clock), again(state, clock))
    assert load_durations(tmp_path, model.double())(
        observed(model, video.double()), clock
    ).dtype == (torch.float64)


@torch.no_grad()
def observed(model: VPR, video: Tensor) -> State:
    return model.observe(video).state


def test_durations_of_other_weights_raise(model: VPR, tmp_path: Path) -> None:
    model.save_pretrained(str(tmp_path))
    save_durations(Durations(model.config), model, tmp_path)
    other = VPR(model.config)
    with pytest.raises(VPRError, match="fitted to other weights than these"):
        load_durations(tmp_path, other)
    path = tmp_path / "durations.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(VPRError, match="truncated"):
        load_durations(tmp_path, model)
    path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    with pytest.raises(VPRError, match="altered"):
        load_durations(tmp_path, model)
    lower = Durations(model.config)
    del lower.heads[1]
    save_durations(lower, model, tmp_path)
    with pytest.raises(VPRError, match="another version"):
        load_durations(tmp_path, model)


@pytest.mark.usefixtures("quick")
def test_errors_are_one_line(model: VPR) -> None:
    with pytest.raises(VPRError, match="one level has no events"):
        Durations(tiny_run(1, levels=1).model)
    with pytest.raises(VPRError, match="the data has"):
        fit_durations(model, MovingBall(size=32))
    with pytest.raises(VPRError, match="2 or more frames"):
        fit_durations(model, MovingBall(size=16), length=1)
    model.rule = Clockwork((1, 100, 100))
    with pytest.raises(VPRError, match="level 2 never updated"):
        fit_durations(model, MovingBall(size=16), sequences=2, length=4)
