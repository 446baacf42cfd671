"""One recipe for all cpu/… presets, and the paper's numbers in all paper/… presets."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

import pytest

from vpr.cli.train import declare
from vpr.config import ModelConfig, RunConfig, TrainingConfig
from vpr.errors import VPRError
from vpr.presets import PAPER_STAGES, PRESETS, RECIPE, preset
from vpr.training.objectives import objective
from vpr.training.stages import StageSchedule

MAY_DIFFER = {
    ModelConfig: {"levels", "likelihood", "frame", "width", "state_size", "channels", "layers"},
    TrainingConfig: {"batch_size", "length", "steps", "decoded_frames"},
}
OURS = [config for name, config in PRESETS.items() if name.startswith("cpu/")]
PAPERS = [config for name, config in PRESETS.items() if name.startswith("paper/")]


def shared(part: Any) -> dict[str, Any]:
    """The fields that must be the same in all presets."""
    names = {field.name for field in fields(part)} - MAY_DIFFER[type(part)]
    return {name: getattr(part, name) for name in names}


def name_of(config: RunConfig) -> str:
    return config.preset


def test_every_preset_is_ours_or_the_papers() -> None:
    assert len(OURS) + len(PAPERS) == len(PRESETS)
    assert all(preset(name) is config for name, config in PRESETS.items())
    with pytest.raises(VPRError, match="no preset 'cpu/cats': choose one of paper/moving-ball"):
        preset("cpu/cats")


@pytest.mark.parametrize("config", PRESETS.values(), ids=name_of)
def test_objectives_exist(config: RunConfig) -> None:
    for stage in config.stages:
        for name in stage.objectives:
            assert callable(objective(name))


@pytest.mark.parametrize("config", PRESETS.values(), ids=name_of)
def test_stages_last_for_all_steps_and_end_with_beta_1_and_both_criteria(
    config: RunConfig,
) -> None:
    table = StageSchedule(config.stages, config.training.steps)
    assert table.stage_ends[-1] == config.training.steps
    last = config.stages[-1]
    assert last.beta == (1.0, 1.0)
    assert last.beta_ratio == (1.0, 1.0)
    assert last.criteria == ("CE", "CU")
    assert last.decay
    assert last.random_updates == 0


@pytest.mark.parametrize("config", OURS, ids=name_of)
class TestOurs:
    def test_shares_the_stages(self, config: RunConfig) -> None:
        assert config.stages == RECIPE

    def test_differs_only_in_data_and_size(self, config: RunConfig) -> None:
        assert shared(config.model) == shared(OURS[0].model)
        assert shared(config.training) == shared(OURS[0].training)
        assert config.training.decoded_frames == config.training.length // 4
        assert config.seed == OURS[0].seed

    def test_has_the_papers_criteria(self, config: RunConfig) -> None:
        model = config.model
        assert (model.rule, model.expected, model.unexpected) == ("subjective", True, True)
        assert (model.gamma, model.window) == (1.1, 100)


# Appendix "Model architecture and training": levels, |s|, width, length, likelihood
PAPER = {
    "paper/moving-ball": (2, 20, 200, 15, "bernoulli"),
    "paper/moving-ball-slow": (2, 20, 200, 15, "bernoulli"),
    "paper/3dsd": (3, 20, 200, 50, "gaussian"),
    "paper/bouncing-balls": (2, 60, 1024, 15, "bernoulli"),
    "paper/maze": (3, 20, 200, 50, "gaussian"),
}


def test_the_papers_presets_are_all_pinned() -> None:
    assert {config.preset for config in PAPERS} == PAPER.keys()


@pytest.mark.parametrize("config", PAPERS, ids=name_of)
class TestPaper:
    def test_sizes(self, config: RunConfig) -> None:
        model, training = config.model, config.training
        sizes = model.levels, model.state_size, model.width, training.length
        assert (*sizes, model.likelihood) == PAPER[config.preset]
        assert model.layers == 4
        assert (model.network, model.channels) == ("world-models", 32)
        assert training.batch_size == 32

    def test_learning_rate(self, config: RunConfig) -> None:
        training = config.training
        assert (training.learning_rate, training.final_learning_rate) == (5e-4, 5e-5)
        assert (training.steps, training.warmup_steps) == (15_000, 0)
        assert training.kl_balancing
        table = StageSchedule(config.stages, training.steps)
        assert [table.decayed(step) for step in (0, 7500, 15_000)] == [0, 0.5, 1]

    def test_beta_rises_from_0_to_1_over_3000_steps_and_stays(self, config: RunConfig) -> None:
        table, levels = StageSchedule(config.stages, config.training.steps), config.model.levels
        for step, beta in ((0, 0), (750, 0.25), (1500, 0.5), (2999, 2999 / 3000), (3000, 1)):
            stage, done = table.at(step)
            for level in range(1, levels + 1):
                assert stage.beta_at(done, level) == pytest.approx(beta)
        for step in range(3000, 15_000, 1000):
            stage, done = table.at(step)
            assert stage.beta_at(done) == 1

    def test_criteria(self, config: RunConfig) -> None:
        model = config.model
        assert (model.rule, model.expected, model.unexpected) == ("subjective", True, True)
        assert (model.gamma, model.window) == (1.1, 100)
        assert all(stage.criteria == ("CE", "CU") for stage in config.stages)

    def test_nothing_is_added(self, config: RunConfig) -> None:
        assert config.stages == PAPER_STAGES
        assert config.training.frame_nats == 0  # the reconstruction has the weight 1
        for stage in config.stages:
            assert stage.objectives == ()
            assert stage.random_updates == 0


def test_vpr_train_has_few_options_for_model_and_training() -> None:
    parser = argparse.ArgumentParser()
    declare(parser, [])
    options = {action.dest for action in parser._actions}
    counted = {name for name in options if name.startswith(("model.", "training."))}
    assert {"model.levels", "training.steps"} <= counted
    assert len(counted) <= 40
