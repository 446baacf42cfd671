"""Stages, which step belongs to which of them, and the end of a stage that settles."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr.config import TrainingConfig
from vpr.errors import VPRError
from vpr.presets import PAPER_STAGES, RECIPE
from vpr.serial import from_dict, to_dict
from vpr.training.session import learning_rate
from vpr.training.stages import Plateau, Stage, Timetable

many = settings(max_examples=60, deadline=None, derandomize=True)
stages = st.lists(
    st.builds(Stage, st.just("stage"), st.floats(0.01, 1.0), decay=st.booleans()),
    min_size=1,
    max_size=5,
)
totals = st.integers(1, 300)
betas = st.just(0.0) | st.floats(1e-6, 3)


class TestStage:
    def test_beta_is_linear_from_0(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.0, 2.0))
        for done in (0.0, 0.25, 0.5, 1.0):
            assert stage.beta_at(done, 2) == pytest.approx((2 * done, 2 * done))

    def test_beta_is_geometric_from_more_than_0(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.01, 1.0))
        for done, beta in ((0.0, 0.01), (0.5, 0.1), (1.0, 1.0)):
            assert stage.beta_at(done, 3) == pytest.approx((beta,) * 3)

    @many
    @given(betas, betas, st.floats(0, 2), st.floats(0, 0.19))
    def test_beta_stays_between_its_ends(
        self, first: float, last: float, done: float, lag: float
    ) -> None:
        for beta in Stage("any", 1.0, beta=(first, last), lag=lag).beta_at(done, 4):
            assert min(first, last) - 1e-9 <= beta <= max(first, last) + 1e-9

    @many
    @given(st.floats(0, 0.19), st.integers(1, 5))
    def test_with_a_lag_all_levels_still_start_and_end_where_they_should(
        self, lag: float, levels: int
    ) -> None:
        stage = Stage("anneal", 1.0, beta=(0.001, 1.0), lag=lag)
        assert stage.beta_at(0.0, levels) == pytest.approx((0.001,) * levels)
        assert stage.beta_at(1.0, levels) == pytest.approx((1.0,) * levels)

    def test_each_level_rises_a_lag_later_than_the_one_below(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.0, 1.0), lag=0.1)
        assert stage.beta_at(0.1, 3) == pytest.approx((0.125, 0.0, 0.0))
        assert stage.beta_at(0.5, 3) == pytest.approx((0.625, 0.5, 0.375))
        assert stage.beta_at(0.8, 3) == pytest.approx((1.0, 0.875, 0.75))

    @pytest.mark.parametrize("lag", [-0.1, 0.2])
    def test_refuses_a_lag_outside_0_to_a_fifth(self, lag: float) -> None:
        with pytest.raises(VPRError, match=r"lag must be at least 0 and below 0\.2"):
            Stage("bad", 1.0, lag=lag)

    def test_steps_are_the_share_and_at_least_one(self) -> None:
        stage = Stage("short", 0.25)
        assert [stage.steps(total) for total in (1, 4, 100, 15_000)] == [1, 1, 25, 3750]

    @pytest.mark.parametrize("stage", [*RECIPE, *PAPER_STAGES], ids=lambda stage: stage.name)
    def test_survives_json(self, stage: Stage) -> None:
        assert from_dict(Stage, json.loads(json.dumps(to_dict(stage))), "stage") == stage

    @pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan])
    def test_refuses_shares_outside_0_to_1(self, share: float) -> None:
        with pytest.raises(VPRError, match="share must be above 0 and at most 1"):
            Stage("bad", share)

    @pytest.mark.parametrize("beta", [(), (1.0,), (0.0, 0.5, 1.0), (-0.1, 1.0), (0.0, -1.0)])
    def test_refuses_other_than_two_betas_of_0_or_more(self, beta: tuple[float, ...]) -> None:
        with pytest.raises(VPRError, match="beta must be two numbers of 0 or more"):
            Stage("bad", 1.0, beta=beta)

    @pytest.mark.parametrize("probability", [-0.1, 1.1])
    def test_refuses_impossible_random_updates(self, probability: float) -> None:
        with pytest.raises(VPRError, match="random_updates must be between 0 and 1"):
            Stage("bad", 1.0, random_updates=probability)


class TestTimetable:
    def test_refuses_no_stages(self) -> None:
        with pytest.raises(VPRError, match="at least one stage"):
            Timetable((), 100)

    @many
    @given(stages, totals)
    def test_every_step_belongs_to_exactly_one_stage(self, some: list[Stage], total: int) -> None:
        table = Timetable(some, total)
        lengths = [stage.steps(total) for stage in some]
        assert table.last() == sum(lengths)
        wanted = [(stage, k / n) for stage, n in zip(some, lengths, strict=True) for k in range(n)]
        found = [table.at(step) for step in range(table.last())]
        assert all(a is b for (a, _), (b, _) in zip(found, wanted, strict=True))
        assert [done for _, done in found] == pytest.approx([done for _, done in wanted])

    @many
    @given(stages, totals, st.integers(0, 99))
    def test_after_the_last_step_the_last_stage_is_done(
        self, some: list[Stage], total: int, more: int
    ) -> None:
        table = Timetable(some, total)
        assert table.at(table.last() + more) == (some[-1], 1.0)

    @many
    @given(stages, totals, st.data())
    def test_a_stage_that_ends_early_leaves_the_lengths_of_the_others(
        self, some: list[Stage], total: int, data: st.DataObject
    ) -> None:
        table = Timetable(some, total)
        before = list(table.lengths)
        step = data.draw(st.integers(0, table.last() - 1))
        place = next(k for k in range(len(some)) if step < sum(before[: k + 1]))
        table.end_stage(step)
        done = step + 1 - sum(before[:place])
        assert table.lengths == [*before[:place], done, *before[place + 1 :]]
        assert table.at(step)[0] is some[place]
        if place + 1 < len(some):
            assert table.at(step + 1) == (some[place + 1], 0.0)

    def test_ending_a_stage_after_the_last_step_changes_nothing(self) -> None:
        table = Timetable(RECIPE, 100)
        table.end_stage(100)
        assert table.lengths == [35, 25, 40]

    @many
    @given(stages, totals, st.data())
    def test_decayed_rises_from_0_to_1(
        self, some: list[Stage], total: int, data: st.DataObject
    ) -> None:
        table = Timetable(some, total)
        if data.draw(st.booleans()):
            table.end_stage(data.draw(st.integers(0, table.last() - 1)))
        values = [table.decayed(step) for step in range(table.last() + 1)]
        assert values == sorted(values)
        assert values[0] == 0
        assert values[-1] == float(any(stage.decay for stage in some))

    def test_decayed_waits_for_the_stages_that_decay(self) -> None:
        table = Timetable(RECIPE, 100)
        assert [table.decayed(step) for step in (0, 59, 60, 80, 100)] == [0, 0, 0, 0.5, 1]
        table.end_stage(9)  # 25 steps earlier
        assert [table.decayed(step) for step in (34, 35, 55, 75)] == [0, 0, 0.5, 1]

    def test_the_papers_stages_decay_over_all_steps(self) -> None:
        table, paper = Timetable(PAPER_STAGES, 15_000), TrainingConfig()
        assert table.last() == 15_000
        for step in range(0, 15_001, 250):
            cosine = 5e-5 + (5e-4 - 5e-5) * (1 + math.cos(math.pi * step / 15_000)) / 2
            assert table.decayed(step) == pytest.approx(step / 15_000)
            assert learning_rate(step, table.decayed(step), paper) == pytest.approx(cosine)


class TestLearningRate:
    def test_cosine_from_the_first_to_the_final_rate(self) -> None:
        rates = [learning_rate(9, decayed, TrainingConfig()) for decayed in (0.0, 0.5, 1.0)]
        assert rates == pytest.approx([5e-4, (5e-4 + 5e-5) / 2, 5e-5])

    def test_rises_over_the_warm_up(self) -> None:
        warm = TrainingConfig(warmup_steps=100)
        rates = [learning_rate(step, 0.0, warm) for step in (0, 49, 99, 5000)]
        assert rates == pytest.approx([5e-6, 2.5e-4, 5e-4, 5e-4])

    @many
    @given(st.integers(0, 10**6), st.floats(0, 1), st.integers(0, 500))
    def test_never_leaves_0_to_the_highest(self, step: int, decayed: float, warmup: int) -> None:
        rate = learning_rate(step, decayed, TrainingConfig(warmup_steps=warmup))
        assert 0 < rate <= 5e-4 * (1 + 1e-9)


def settled_at(plateau: Plateau, values: list[float]) -> int | None:
    """How many values it took, if it settled."""
    for count, value in enumerate(values, start=1):
        if plateau.push(value):
            return count
    return None


windows = st.integers(1, 20)


class TestPlateau:
    @many
    @given(windows, st.floats(0.01, 0.9), st.floats(0.1, 1e4))
    def test_settles_on_a_flat_curve_after_two_blocks(
        self, window: int, tolerance: float, value: float
    ) -> None:
        assert settled_at(Plateau(window, tolerance), [value] * 100) == 2 * window

    @many
    @given(windows, st.floats(0.01, 0.9), st.floats(1, 1e4))
    def test_does_not_settle_on_a_falling_curve(
        self, window: int, tolerance: float, value: float
    ) -> None:
        """Each block is better than the last by a little more than the tolerance."""
        rate = (0.99 * (1 - tolerance)) ** (1 / window)
        assert settled_at(Plateau(window, tolerance), [value * rate**t for t in range(100)]) is None

    def test_waits_while_the_curve_falls_and_settles_when_it_is_flat(self) -> None:
        falling = [100.0, 100.0, 80.0, 80.0, 50.0, 50.0]
        assert settled_at(Plateau(2, 0.1), [*falling, 49.0, 48.0, 1.0]) == 8

    def test_compares_with_the_best_block(self) -> None:
        """A block that is worse than the best does not lower the bar for the next."""
        plateau = Plateau(1, 0.1)
        for value in (100.0, 50.0):
            assert not plateau.push(value)
        assert plateau.push(90.0)
        assert plateau.best == 50.0
        assert plateau.push(60.0)

    def test_a_single_value_does_not_end_a_block(self) -> None:
        assert settled_at(Plateau(3, 0.1), [9.0, 9.0, 9.0, 1.0, 0.0, 25.0]) == 6
        assert settled_at(Plateau(3, 0.1), [9.0, 9.0, 9.0, 1.0, 0.0, 20.0]) is None

    @many
    @given(windows, st.lists(st.floats(0, 1e4), max_size=60), st.integers(0, 60))
    def test_goes_on_from_its_state(self, window: int, values: list[float], cut: int) -> None:
        whole, first, second = (Plateau(window) for _ in range(3))
        said = [whole.push(value) for value in values]
        parts = [first.push(value) for value in values[:cut]]
        second.restore(json.loads(json.dumps(first.state())))
        parts += [second.push(value) for value in values[cut:]]
        assert parts == said
        assert second.state() == whole.state()
