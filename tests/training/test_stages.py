"""Stages, and which step belongs to which of them."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpr.config import TrainingConfig
from vpr.errors import VPRError
from vpr.presets import PAPER_STAGES, RECIPE
from vpr.training.session import learning_rate
from vpr.training.stages import Stage, StageSchedule
from vpr.utils.config_json import from_dict, to_dict

many = settings(max_examples=60, deadline=None, derandomize=True)
totals = st.integers(1, 300)


@st.composite
def staged(draw: st.DrawFn) -> list[Stage]:
    """Stages whose shares add up to 1."""
    parts = draw(st.lists(st.integers(1, 100), min_size=1, max_size=5))
    return [Stage("stage", n / sum(parts), decay=draw(st.booleans())) for n in parts]


stages = staged()
betas = st.just(0.0) | st.floats(1e-6, 3)


class TestStage:
    def test_beta_is_linear_from_0(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.0, 2.0))
        for done in (0.0, 0.25, 0.5, 1.0):
            assert stage.beta_at(done) == pytest.approx(2 * done)

    def test_beta_is_geometric_from_more_than_0(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.01, 1.0))
        for done, beta in ((0.0, 0.01), (0.5, 0.1), (1.0, 1.0)):
            assert stage.beta_at(done) == pytest.approx(beta)

    @many
    @given(betas, betas)
    def test_beta_starts_and_ends_where_it_should(self, first: float, last: float) -> None:
        stage = Stage("any", 1.0, beta=(first, last))
        assert stage.beta_at(0.0) == pytest.approx(first)
        assert stage.beta_at(1.0) == pytest.approx(last)

    @many
    @given(betas, betas, st.floats(0, 1))
    def test_beta_stays_between_its_ends(self, first: float, last: float, done: float) -> None:
        found = Stage("any", 1.0, beta=(first, last)).beta_at(done)
        assert min(first, last) - 1e-9 <= found <= max(first, last) + 1e-9

    @pytest.mark.parametrize("stage", [*RECIPE, *PAPER_STAGES], ids=lambda stage: stage.name)
    def test_survives_json(self, stage: Stage) -> None:
        assert from_dict(Stage, json.loads(json.dumps(to_dict(stage))), "stage") == stage

    @pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan])
    def test_refuses_shares_outside_0_to_1(self, share: float) -> None:
        with pytest.raises(VPRError, match="share must be above 0 and at most 1"):
            Stage("bad", share)

    @pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan])
    def test_refuses_until_explained_outside_0_to_1(self, share: float) -> None:
        with pytest.raises(VPRError, match="until_explained must be above 0 and at most 1"):
            Stage("bad", 0.5, until_explained=share)

    @pytest.mark.parametrize("beta", [(), (1.0,), (0.0, 0.5, 1.0), (-0.1, 1.0), (0.0, -1.0)])
    def test_refuses_other_than_two_betas_of_0_or_more(self, beta: tuple[float, ...]) -> None:
        with pytest.raises(VPRError, match="beta must be two numbers of 0 or more"):
            Stage("bad", 1.0, beta=beta)

    def test_a_level_has_the_ratio_to_the_power_of_the_levels_below(self) -> None:
        stage = Stage("anneal", 1.0, beta=(0.5, 2.0), beta_ratio=(0.01, 1.0))
        for level, beta in ((1, 0.5), (2, 0.005), (3, 0.00005)):
            assert stage.beta_at(0.0, level) == pytest.approx(beta)
            assert stage.beta_at(0.5, level) == pytest.approx(0.1 ** (level - 1))
            assert stage.beta_at(1.0, level) == pytest.approx(2.0)

    @pytest.mark.parametrize("ratio", [(), (1.0,), (0.1, 0.5, 1.0), (0.0, 1.0), (0.1, -1.0)])
    def test_refuses_other_than_two_ratios_above_0(self, ratio: tuple[float, ...]) -> None:
        with pytest.raises(VPRError, match="beta_ratio must be two numbers above 0"):
            Stage("bad", 1.0, beta_ratio=ratio)

    def test_refuses_unknown_criteria(self) -> None:
        with pytest.raises(VPRError, match="criteria are CE and CU, got CX"):
            Stage("bad", 1.0, criteria=("CX",))

    @pytest.mark.parametrize("probability", [-0.1, 1.1])
    def test_refuses_impossible_random_updates(self, probability: float) -> None:
        with pytest.raises(VPRError, match="random_updates must be between 0 and 1"):
            Stage("bad", 1.0, random_updates=probability)


class TestStageSchedule:
    @pytest.mark.parametrize("shares", [(), (0.5,), (0.5, 0.4), (0.5, 0.6), (1.0, 1.0)])
    def test_refuses_shares_that_do_not_add_up_to_1(self, shares: tuple[float, ...]) -> None:
        with pytest.raises(VPRError, match="shares of a run's stages must add up to 1"):
            StageSchedule([Stage("any", share) for share in shares], 100)

    def test_allows_shares_that_are_rounded(self) -> None:
        assert StageSchedule([Stage("any", 0.1)] * 10, 100).stage_ends == list(range(10, 101, 10))

    @many
    @given(stages, totals)
    def test_every_step_belongs_to_exactly_one_stage(self, some: list[Stage], total: int) -> None:
        table = StageSchedule(some, total)
        assert table.stage_ends == sorted(table.stage_ends)
        assert table.stage_ends[-1] == total
        spans = zip(some, pairwise([0, *table.stage_ends]), strict=True)
        wanted = [(stage, k / (b - a)) for stage, (a, b) in spans for k in range(b - a)]
        found = [table.at(step) for step in range(total)]
        assert all(a is b for (a, _), (b, _) in zip(found, wanted, strict=True))
        assert [done for _, done in found] == pytest.approx([done for _, done in wanted])

    @many
    @given(stages, totals)
    def test_a_stage_has_its_share_of_the_steps(self, some: list[Stage], total: int) -> None:
        spans = pairwise([0, *StageSchedule(some, total).stage_ends])
        for stage, (start, end) in zip(some, spans, strict=True):
            assert abs(end - start - stage.share * total) <= 1 + 1e-6

    @many
    @given(stages, totals, st.integers(0, 99))
    def test_after_the_last_step_the_last_stage_is_done(
        self, some: list[Stage], total: int, more: int
    ) -> None:
        assert StageSchedule(some, total).at(total + more) == (some[-1], 1.0)

    def test_the_last_stage_cannot_end_early(self) -> None:
        with pytest.raises(VPRError, match="the last stage of a run cannot end early"):
            StageSchedule([Stage("any", 1.0, until_explained=0.5)], 100)

    def test_after_an_early_end_the_later_stages_keep_their_proportions(self) -> None:
        table = StageSchedule([Stage("a", 0.5), Stage("b", 0.3), Stage("c", 0.2)], 100)
        table.end_stage(10)
        assert table.stage_ends == [10, 64, 100]
        table.end_stage(40)
        assert table.stage_ends == [10, 40, 100]

    @many
    @given(stages, totals)
    def test_decayed_rises_from_0_to_1(self, some: list[Stage], total: int) -> None:
        table = StageSchedule(some, total)
        values = [table.decayed(step) for step in range(total + 1)]
        assert values == sorted(values)
        assert values[0] == 0
        falls = any(table.at(step)[0].decay for step in range(total))  # a stage may have no step
        assert values[-1] == float(falls)

    def test_decayed_waits_for_the_stages_that_decay(self) -> None:
        table = StageSchedule((Stage("wait", 0.6), Stage("fall", 0.4, decay=True)), 100)
        assert [table.decayed(step) for step in (0, 59, 60, 80, 100)] == [0, 0, 0, 0.5, 1]

    def test_the_papers_stages_decay_over_all_steps(self) -> None:
        table, paper = StageSchedule(PAPER_STAGES, 15_000), TrainingConfig()
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
