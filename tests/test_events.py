"""The window of D_st and the rules."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from vpr.config import ModelConfig, make_rule
from vpr.errors import VPRError
from vpr.events import Always, Clockwork, Decision, RandomUpdates, Rule, Subjective, Window
from vpr.model import VPR

NAN = torch.tensor(math.nan)


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


pushes = st.lists(
    st.lists(st.tuples(st.floats(0, 100), st.booleans()), min_size=2, max_size=2), max_size=25
)


class TestWindow:
    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(size=st.integers(1, 7), usual=st.none() | st.floats(0, 10), pushes=pushes)
    def test_is_a_list_of_the_last_values(
        self, size: int, usual: float | None, pushes: list[list[tuple[float, bool]]]
    ) -> None:
        window = Window.filled(2, size, NAN.double() if usual is None else tensor(usual)[0])
        lists: list[list[float]] = [[] if usual is None else [usual] * size for _ in range(2)]
        for step in pushes:
            value = tensor(*(v for v, where in step if where))
            rows = [row for row, (_, where) in enumerate(step) if where]
            window = window.push(value, torch.tensor(rows, dtype=torch.long))
            for row, (v, where) in zip(lists, step, strict=True):
                row.extend([v] if where else [])
            wanted = [sum(r[-size:]) / len(r[-size:]) if r else math.inf for r in lists]
            assert window.mean().tolist() == pytest.approx(wanted)
            assert window.pushed.tolist() == [len(row) for row in lists]

    def test_empty_is_infinite(self) -> None:
        window = Window.filled(3, 4, NAN)
        assert window.mean().tolist() == [math.inf] * 3
        assert window.values.shape == (3, 4)

    def test_mean_of_a_window_that_is_not_full(self) -> None:
        window = Window(torch.tensor([[1.0, 4.0, 0.0]]), torch.tensor([2]))
        assert window.mean().tolist() == [2.5]

    def test_filled_gives_what_was_usual(self) -> None:
        window = Window.filled(2, 4, torch.tensor(1.5))
        assert window.mean().tolist() == [1.5, 1.5]
        pushed = window.push(torch.tensor([5.5]), torch.tensor([0]))
        assert pushed.mean().tolist() == [2.5, 1.5]

    @pytest.mark.parametrize("size", [1, 4, 30])
    @pytest.mark.parametrize("typical", [0.7, math.nan])
    def test_after_each_is_one_push_after_the_other(self, size: int, typical: float) -> None:
        """Of 7 values, only some are kept."""
        ahead = window = Window.filled(1, size, tensor(typical)[0])
        row, generator = torch.zeros(1, dtype=torch.long), torch.Generator().manual_seed(0)
        values, done = torch.randn(60, dtype=torch.float64, generator=generator).exp(), 0
        for count in (1, 3, 7, 2, 7, 7, 7):
            windows = ahead.after_each(values[done : done + 7])
            assert len(windows.pushed) == 8
            for r in range(count + 1):
                torch.testing.assert_close(windows.mean()[r], window.mean()[0])
                assert torch.equal(windows.values[r, None], window.values)
                assert torch.equal(windows.pushed[r, None], window.pushed)
                if r < count:
                    window = window.push(values[done + r, None], row)
            ahead = Window(windows.values[count, None], windows.pushed[count, None])
            done += count

    def test_push_leaves_the_old_window_alone(self) -> None:
        old = Window.filled(1, 2, torch.tensor(1.0))
        old.push(torch.tensor([7.0]), torch.tensor([0]))
        assert old.values.tolist() == [[1.0, 1.0]]
        assert old.pushed.tolist() == [2]


# D_st, D_ch and the window's mean of five sequences, and what CE and CU (γ = 2) say of them
SEEN = (tensor(3, 1, 5, 3, 4), tensor(2, 2, 9, 3, 1), tensor(2, 2, 2, math.inf, 2))
CE = [True, False, False, False, True]
CU = [False, False, True, False, False]


def ask(rule: Rule, level: int = 2, time: int = 0) -> Decision:
    return rule.decide(level, torch.full((5,), time), *SEEN)


class TestSubjective:
    @pytest.mark.parametrize("expected", [True, False])
    @pytest.mark.parametrize("unexpected", [True, False])
    def test_criteria(self, expected: bool, unexpected: bool) -> None:
        decision = ask(Subjective(expected, unexpected, gamma=2.0))
        assert decision.expected.tolist() == [expected and v for v in CE]
        assert decision.unexpected.tolist() == [unexpected and v for v in CU]
        either = [(expected and a) or (unexpected and b) for a, b in zip(CE, CU, strict=True)]
        assert decision.boundary.tolist() == either

    def test_threshold_is_gamma_times_the_mean(self) -> None:
        assert ask(Subjective(gamma=1.5)).threshold.tolist() == [3, 3, 3, math.inf, 3]

    def test_equal_is_not_above(self) -> None:
        """Both criteria are strict."""
        same = tensor(2.0)
        assert not Subjective(gamma=1.0).decide(2, torch.zeros(1), same, same, same).boundary

    def test_defaults_are_the_paper(self) -> None:
        assert Subjective() == Subjective(expected=True, unexpected=True, gamma=1.1, window=100)

    @pytest.mark.parametrize("fields", [{"gamma": 0.0}, {"gamma": -1.0}, {"window": 0}])
    def test_refuses(self, fields: dict[str, float]) -> None:
        with pytest.raises(VPRError, match="gamma must be positive and window 1 or more"):
            Subjective(**fields)


class TestClocks:
    def test_clockwork_counts_frames_of_its_level(self) -> None:
        rule = Clockwork((1, 3, 6))
        for level, interval in enumerate((1, 3, 6), start=1):
            for time in range(13):
                boundary = ask(rule, level, time).boundary
                assert boundary.tolist() == [time % interval == 0] * 5

    def test_clockwork_counts_for_each_sequence(self) -> None:
        boundary = Clockwork((1, 2)).decide(2, torch.arange(5), *SEEN).boundary
        assert boundary.tolist() == [True, False, True, False, True]

    @pytest.mark.parametrize("rule", [Clockwork((1, 2)), Always()])
    def test_no_criterion_speaks(self, rule: Rule) -> None:
        decision = ask(rule)
        assert not decision.expected.any()
        assert not decision.unexpected.any()
        assert decision.threshold.isnan().all()
        assert rule.window >= 1

    @pytest.mark.parametrize("time", [0, 1, 7])
    def test_always(self, time: int) -> None:
        assert ask(Always(), time=time).boundary.all()

    @pytest.mark.parametrize("intervals", [(0,), (1, -2)])
    def test_refuses(self, intervals: tuple[int, ...]) -> None:
        with pytest.raises(VPRError, match="intervals must be 1 or more"):
            Clockwork(intervals)


class TestMakeRule:
    def test_subjective(self) -> None:
        config = ModelConfig(expected=False, gamma=2.0, window=7)
        assert make_rule(config) == Subjective(False, True, 2.0, 7)

    def test_clocks(self) -> None:
        config = ModelConfig(levels=2, rule="clockwork", intervals=(1, 4))
        assert make_rule(config) == Clockwork((1, 4))
        assert make_rule(ModelConfig(rule="always")) == Always()

    def test_clockwork_needs_a_number_for_each_level(self) -> None:
        with pytest.raises(VPRError, match="3 numbers, one per level"):
            ModelConfig(levels=3, rule="clockwork", intervals=(1, 4))


class TestRandomUpdates:
    def test_adds_updates_and_takes_none(self) -> None:
        base = Subjective(expected=False)
        values = torch.tensor([0.0, 10.0]).repeat(5000)
        usual = torch.ones_like(values)
        arguments = (2, torch.zeros(10_000), values, values, usual)
        rule = RandomUpdates(base, 0.1, torch.Generator().manual_seed(0))
        plain, drawn = base.decide(*arguments), rule.decide(*arguments)
        assert drawn.boundary[plain.boundary].all()
        assert 0.08 < drawn.boundary[~plain.boundary].float().mean() < 0.12
        assert torch.equal(drawn.unexpected, plain.unexpected)
        assert drawn.random is not None
        assert torch.equal(drawn.random, drawn.boundary & ~plain.boundary)

    def test_values_after_a_random_update_below_are_not_pushed(
        self, tiny_model: Callable[..., VPR], scenes: Callable[..., Tensor]
    ) -> None:
        model = tiny_model(3)
        never = Clockwork((1, 10**6, 10**6))
        model.rule = RandomUpdates(never, 1.0, torch.Generator())
        trace = model.observe(scenes(2, 8))
        assert not trace.levels[2].evidence.kl_static[:, 1:].isnan().any(), "it was asked"
        assert trace.state.windows[0].pushed.tolist() == [7, 7]
        assert trace.state.windows[1].pushed.tolist() == [0, 0]

    def test_is_otherwise_the_rule(self) -> None:
        rule = RandomUpdates(Subjective(window=7), 0.0, torch.Generator())
        assert rule.window == 7
