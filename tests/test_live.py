"""One video with plain ifs gives what the batched model gives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partialmethod
from typing import Any

import pytest
import torch
from torch import Tensor

from vpr.events import Always, Clockwork, Decision, Evidence, Rule, Subjective
from vpr.fast.inference_block import LeanBlock
from vpr.live import Live
from vpr.model import VPR
from vpr.state import State
from vpr.utils.tree import tree_map

Factory = Callable[..., Any]


class EveryThird:
    """A rule of somebody's own."""

    window, power = 3, 1.0

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, usual: Tensor
    ) -> Decision:
        never = torch.zeros_like(time, dtype=torch.bool)
        return Decision(never, kl_static > usual, time % 3 == 0, 2 * usual)


RULES = [
    Subjective(window=5),
    Subjective(expected=False, window=5, power=0.5),
    Subjective(expected=False, unexpected=False),
    Clockwork((1, 2, 4, 8)),
    Always(),
    EveryThird(),
]


def assert_same(found: Any, wanted: Any, tolerance: float) -> None:
    def check(a: Tensor, b: Tensor) -> Tensor:
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        return a

    tree_map(check, found, wanted)


def by_steps(model: VPR, video: Tensor) -> list[tuple[State, tuple[Evidence, ...]]]:
    """The batched model, a frame (T, *frame) at a time."""
    state, seen = model.initial(1), []
    for frame in video:
        state, evidence = model.step(state, frame.unsqueeze(0))
        seen.append((state, evidence))
    return seen


@torch.no_grad()
def compare(model: VPR, video: Tensor, tolerance: float) -> None:
    live = Live(model, model.initial(1))
    for frame, (state, evidence) in zip(video, by_steps(model, video), strict=True):
        told = live.step(frame)
        assert_same(live.state(), state, tolerance)
        if live.time > 1:  # at the first frame nobody is asked
            assert_same(tuple(told), evidence[: len(told)], tolerance)
        assert not any(level.boundary for level in evidence[len(told) :]) or live.time == 1


class TestEqualsTheModel:
    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    @pytest.mark.parametrize("rule", RULES)
    def test_every_rule(
        self, tiny_model: Factory, scenes: Factory, levels: int, rule: Rule
    ) -> None:
        model = tiny_model(levels, seed=12)
        model.rule = rule
        model.usual.fill_(0.5)
        compare(model, scenes(batch=1, length=20, seed=2)[0], 1e-9)

    @pytest.mark.parametrize(
        ("network", "frame"),
        [
            ("world-models", (3, 64, 64)),
            ("world-models", (1, 32, 48)),
            ("folded", (3, 32, 16)),
            ("folded", (7,)),
        ],
    )
    @pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-3)])
    def test_every_network(
        self,
        tiny_model: Factory,
        scenes: Factory,
        network: str,
        frame: tuple[int, ...],
        dtype: torch.dtype,
        tolerance: float,
    ) -> None:
        """In single precision D_KL of two nearly equal beliefs has few digits left."""
        model = tiny_model(2, network=network, frame=frame, dtype=dtype)
        compare(model, scenes(batch=1, length=6, frame=frame)[0].to(dtype), tolerance)

    def test_events_happen(self, tiny_model: Factory, scenes: Factory) -> None:
        """The comparisons above are worth something."""
        model = tiny_model(4, seed=12, window=5)
        model.usual.fill_(0.5)
        with torch.no_grad():
            seen = by_steps(model, scenes(batch=1, length=20, seed=2)[0])[1:]
        for n in (1, 2):
            assert len({bool(evidence[n].boundary) for _, evidence in seen}) == 2


@torch.no_grad()
def test_a_state_goes_in_and_comes_out(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(3, seed=12, window=5), scenes(batch=1, length=12, seed=2)
    state = model.observe(video[:, :7]).state
    live = Live(model, state)
    assert_same(live.state(), state, 0.0)
    for frame in video[0, 7:]:
        live.step(frame)
    assert_same(live.state(), model.observe(video).state, 1e-9)


@pytest.mark.parametrize("network", ["world-models", "folded"])
@torch.no_grad()
def test_works_with_a_copy_of_the_weights(
    tiny_model: Factory, scenes: Factory, network: str
) -> None:
    """And touches nothing that is not its own."""
    model, video = tiny_model(3, network=network), scenes(batch=1, length=6)
    state = model.observe(video[:, :3]).state
    before = copy.deepcopy((state, video, model.state_dict()))
    live, other = Live(model, state), Live(model, state)
    for frame in video[0, 3:]:
        live.step(frame)
    assert_same((state, video), before[:2], 0.0)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(weight, before[2][name], rtol=0, atol=0, equal_nan=True)
    for weight in model.parameters():
        weight.fill_(0.3)
    for frame in video[0, 3:]:
        other.step(frame)
    assert_same(live.state(), other.state(), 0.0)


@torch.no_grad()
def test_a_blocked_level_computes_nothing(
    tiny_model: Factory, scenes: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, video = tiny_model(4), scenes(batch=1, length=2)[0]
    model.rule = Subjective(expected=False, unexpected=False)
    live = Live(model, model.initial(1))
    live.step(video[0])
    called: list[tuple[int, str]] = []
    for name in ("f_enc", "f_dec", "read", "compare", "update"):

        def counted(net: LeanBlock, *inputs: Any, name: str = name, real: Any = None) -> Any:
            called.append((live.nets.index(net), name))
            return real(net, *inputs)

        real = getattr(LeanBlock, name)
        monkeypatch.setattr(LeanBlock, name, partialmethod(counted, real=real))
    live.step(video[1])
    assert sorted(called) == [
        *((0, "f_enc"), (0, "read"), (0, "update")),
        *((1, "compare"), (1, "f_enc"), (1, "read")),
    ]
