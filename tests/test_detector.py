"""The streaming path of Algorithm 1 gives the results of the batched model, in chunks of any size.

See also tests/segmenting/test_segmenter.py.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partialmethod
from typing import Any

import pytest
import torch
from torch import Tensor

from vpr.block import InferenceBlock
from vpr.events import Always, Clockwork, Decision, Evidence, LevelEvidence, Rule, Subjective
from vpr.model import VPR
from vpr.state import State
from vpr.stream import LOOKAHEAD, Detector
from vpr.utils.tree import tree_map

Factory = Callable[..., Any]


class EveryThird:
    """A user-defined rule."""

    window = 3

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        never = torch.zeros_like(time, dtype=torch.bool)
        return Decision(never, kl_static > typical_kl, time % 3 == 0, 2 * typical_kl)


RULES = [
    Subjective(window=5),
    Subjective(expected=False, window=5),
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


def encode(model: VPR, video: Tensor) -> Tensor:
    """x⁰ (T, D), each frame by itself."""
    encoder = model.codec.single_frame_encoder()
    return torch.stack([encoder(frame) for frame in video])


@torch.no_grad()
def compare(model: VPR, video: Tensor, tolerance: float) -> None:
    detector = Detector(model, model.initial(1))
    steps = by_steps(model, video)
    for x0, (state, evidence) in zip(encode(model, video).split(1), steps, strict=True):
        (found,) = detector.process(x0)
        assert_same(detector.state(), state, tolerance)
        if detector.time > 1:  # at the first frame nothing is compared
            assert_same_evidence(found, evidence, tolerance)
        else:
            assert len(found) == 1


def assert_same_evidence(
    found: list[LevelEvidence], wanted: tuple[Evidence, ...], tolerance: float
) -> None:
    """As far as the signal went; none of the levels above updated."""
    rows = [LevelEvidence.rows(level)[0] for level in wanted]
    for ours, theirs in zip(found, rows, strict=False):
        assert ours[3:] == theirs[3:]
        assert ours[:3] == pytest.approx(theirs[:3], rel=tolerance, abs=tolerance, nan_ok=True)
    assert not any(level.boundary for level in rows[len(found) :])


class TestEqualsTheModel:
    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    @pytest.mark.parametrize("rule", RULES)
    def test_every_rule(
        self, tiny_model: Factory, scenes: Factory, levels: int, rule: Rule
    ) -> None:
        model = tiny_model(levels, seed=12)
        model.rule = rule
        model.typical_kl.fill_(0.5)
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
        """The comparisons above have both outcomes."""
        model = tiny_model(4, seed=12, window=5)
        model.typical_kl.fill_(0.5)
        with torch.no_grad():
            seen = by_steps(model, scenes(batch=1, length=20, seed=2)[0])[1:]
        for n in (1, 2):
            assert len({bool(evidence[n].boundary) for _, evidence in seen}) == 2


@torch.no_grad()
def test_a_state_goes_in_and_comes_out(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(3, seed=12, window=5), scenes(batch=1, length=12, seed=2)
    state = model.observe(video[:, :7]).state
    detector = Detector(model, state)
    assert_same(detector.state(), state, 0.0)
    for x0 in encode(model, video[0, 7:]).split(1):
        detector.process(x0)
    assert_same(detector.state(), model.observe(video).state, 1e-9)


@pytest.mark.parametrize("network", ["world-models", "folded"])
@torch.no_grad()
def test_works_with_a_copy_of_the_weights(
    tiny_model: Factory, scenes: Factory, network: str
) -> None:
    """Nothing else changes."""
    model, video = tiny_model(3, network=network), scenes(batch=1, length=6)
    state = model.observe(video[:, :3]).state
    before = copy.deepcopy((state, video, model.state_dict()))
    detector, other = Detector(model, state), Detector(model, state)
    encoder = model.codec.single_frame_encoder()
    for frame in video[0, 3:]:
        detector.process(encoder(frame).unsqueeze(0))
    assert_same((state, video), before[:2], 0.0)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(weight, before[2][name], rtol=0, atol=0, equal_nan=True)
    for weight in model.parameters():
        weight.fill_(0.3)
    for frame in video[0, 3:]:
        other.process(encoder(frame).unsqueeze(0))
    assert_same(detector.state(), other.state(), 0.0)


@torch.no_grad()
def test_a_blocked_level_computes_nothing(
    tiny_model: Factory, scenes: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, video = tiny_model(4), scenes(batch=1, length=2)[0]
    model.rule = Subjective(expected=False, unexpected=False)
    detector, x0 = Detector(model, model.initial(1)), encode(model, video)
    detector.process(x0[:1])
    called: list[tuple[int, str]] = []
    for name in ("f_enc", "f_dec", "project", "compare", "update"):

        def counted(net: InferenceBlock, *inputs: Any, name: str = name, real: Any = None) -> Any:
            called.append((detector.nets.index(net), name))
            return real(net, *inputs)

        real = getattr(InferenceBlock, name)
        monkeypatch.setattr(InferenceBlock, name, partialmethod(counted, real=real))
    detector.process(x0[1:])
    assert sorted(called) == [
        *((0, "f_enc"), (0, "project"), (0, "update")),
        *((1, "compare"), (1, "f_enc"), (1, "project")),
    ]


@pytest.mark.parametrize("level_one", [True, False])
@pytest.mark.parametrize("gamma", [0.3, 1.1, 1e9])
@pytest.mark.parametrize("chunk", [2, LOOKAHEAD, LOOKAHEAD + 1, 40])
def test_chunks_equal_single_frames(
    tiny_model: Factory, gamma: float, chunk: int, level_one: bool
) -> None:
    """Whether level 2 updates at nearly every frame, now and then, or hardly ever."""
    model: VPR = tiny_model(4, seed=12, window=5)
    model.typical_kl.fill_(0.5)
    model.rule = Subjective(gamma=gamma, window=5, expected=gamma < 1e9)
    generator = torch.Generator().manual_seed(1)
    x0 = 2 * torch.randn(40, model.config.width, generator=generator).to(model.dtype)
    with torch.inference_mode():
        one, many = (Detector(model, model.initial(1), level_one=level_one) for _ in range(2))
        wanted = [evidence for part in x0.split(1) for evidence in one.process(part)]
        found = [evidence for part in x0.split(chunk) for evidence in many.process(part)]
    assert len(found) == len(wanted) == one.time == many.time == 40
    for ours, theirs in zip(found, wanted, strict=True):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert a[3:] == b[3:]
            assert a[:3] == pytest.approx(b[:3], rel=1e-9, nan_ok=True)
    updates = sum(len(levels) > 1 and levels[1].boundary for levels in wanted)
    assert updates == 0 if gamma == 1e9 else updates > 3
    assert_same(many.state(), one.state(), 1e-9)


@torch.no_grad()
def test_without_level_one_the_others_are_the_same(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(4, seed=12, window=5), scenes(batch=1, length=20, seed=2)[0]
    model.typical_kl.fill_(0.5)
    x0, initial = encode(model, video), model.initial(1)
    whole, without = (Detector(model, initial, level_one=each) for each in (True, False))
    assert_same_evidence_lists(whole.process(x0), without.process(x0))
    assert_same(without.state().blocks[1:], whole.state().blocks[1:], 0.0)
    assert_same(without.state().blocks[0], initial.blocks[0], 0.0)


def assert_same_evidence_lists(
    found: list[list[LevelEvidence]], wanted: list[list[LevelEvidence]]
) -> None:
    assert [len(levels) for levels in found] == [len(levels) for levels in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert a == pytest.approx(b, rel=0, abs=0, nan_ok=True)
