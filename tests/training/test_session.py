"""What a run holds between two steps, and what it takes from the data before the first."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from tests.conftest import tiny_run
from vpr.config import RunConfig
from vpr.data import Synthetic, training_rng
from vpr.events import Always, RandomUpdates, Subjective
from vpr.model import VPR
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.training.session import ESTIMATION_FRAMES, Session
from vpr.training.stages import Stage

STEPS = 7  # the stages end after 2, 4 and 7


def tensors(folder: Path) -> dict[str, Tensor]:
    return RunFolder(folder).load().tensors


def assert_same(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    assert found.keys() == wanted.keys()
    assert [key for key in wanted if not torch.equal(found[key], wanted[key])] == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained without a stop."""
    folder = tmp_path_factory.mktemp("whole")
    train(tiny_run(STEPS, levels=3), folder)
    return folder


class TestResume:
    @pytest.mark.parametrize("stop", range(1, STEPS))
    def test_at_any_step_is_bit_for_bit_identical(
        self, whole: Path, tmp_path: Path, stop: int
    ) -> None:
        config = tiny_run(STEPS, levels=3)
        train(config, tmp_path, until=stop)
        train(config, tmp_path)
        assert_same(tensors(tmp_path), tensors(whole))
        assert RunFolder(tmp_path).load().notes == RunFolder(whole).load().notes
        metrics = [folder / "metrics.jsonl" for folder in (tmp_path, whole)]
        assert metrics[0].read_text() == metrics[1].read_text()

    @pytest.mark.parametrize("step", [2, 4])
    def test_restores_everything_at_a_stage_boundary(self, tmp_path: Path, step: int) -> None:
        config = tiny_run(STEPS, levels=3)
        train(config, tmp_path, until=step)
        kept = RunFolder(tmp_path).load()
        session = Session(config)
        session.restore(kept)
        again = session.checkpoint()
        assert_same(again.tensors, kept.tensors)
        assert again.notes == kept.notes
        assert session.step == step
        assert session.stage() is config.stages[step // 2]

    def test_another_seed_is_another_run(self, tmp_path: Path) -> None:
        ends = []
        for seed in (0, 1):
            train(replace(tiny_run(2), seed=seed), tmp_path / str(seed))
            ends.append(tensors(tmp_path / str(seed)))
        assert not torch.equal(ends[0]["noise"], ends[1]["noise"])
        assert not torch.equal(ends[0]["chance"], ends[1]["chance"])
        assert not torch.equal(ends[0]["noise"], ends[0]["chance"])


class TestGenerators:
    def run(
        self, random_updates: float, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> tuple[list[Tensor], list[Tensor], dict[str, Tensor]]:
        """The latent noise and the batches of two steps, and the checkpoint after them."""
        config = tiny_run(10)
        stages = tuple(replace(stage, random_updates=random_updates) for stage in config.stages)
        noises: list[Tensor] = []
        batches: list[Tensor] = []
        noise, batch = VPR.noise, Session.batch
        with monkeypatch.context() as patch:
            patch.setattr(VPR, "noise", lambda *words: _kept(noises, noise(*words)))
            patch.setattr(Session, "batch", lambda self: _kept(batches, batch(self)))
            train(replace(config, stages=stages), folder, until=2)
        return noises, batches, tensors(folder)

    def test_random_updates_leave_latent_noise_and_data_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        some, none = (self.run(p, tmp_path / str(p), monkeypatch) for p in (0.25, 0.0))
        for with_updates, without in zip(some[0] + some[1], none[0] + none[1], strict=True):
            assert torch.equal(with_updates, without)
        assert torch.equal(some[2]["noise"], none[2]["noise"])

    def test_only_random_updates_use_up_their_generator(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fresh = Session(tiny_run(10)).random_updates_rng.get_state()
        assert torch.equal(self.run(0.0, tmp_path / "none", monkeypatch)[2]["chance"], fresh)
        assert not torch.equal(self.run(0.25, tmp_path / "some", monkeypatch)[2]["chance"], fresh)


class TestDecodedFrames:
    def test_are_different_frames_of_each_sequence(self) -> None:
        config = tiny_run(10)
        session = Session(replace(config, training=replace(config.training, decoded_frames=3)))
        drawn = [session.decoded() for _ in range(20)]
        for frames in drawn:
            assert frames is not None
            assert frames.unique().tolist() == sorted(frames.tolist())
            assert (frames // config.training.length).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
        assert len({tuple(frames.tolist()) for frames in drawn if frames is not None}) > 1

    @pytest.mark.parametrize("count", [0, 4, 9])
    def test_are_all_frames_by_default_and_if_the_sequence_has_no_more(self, count: int) -> None:
        config = tiny_run(10)
        session = Session(replace(config, training=replace(config.training, decoded_frames=count)))
        assert session.decoded() is None

    def test_resume_bit_for_bit(self, tmp_path: Path) -> None:
        config = tiny_run(4)
        config = replace(config, training=replace(config.training, decoded_frames=2))
        train(config, tmp_path / "whole")
        train(config, tmp_path / "parts", until=1)
        train(config, tmp_path / "parts")
        assert_same(tensors(tmp_path / "parts"), tensors(tmp_path / "whole"))


def _kept(all_of_them: list[Tensor], value: Tensor) -> Tensor:
    all_of_them.append(value)
    return value


def with_data(likelihood: str, frame_nats: float, length: int = 4) -> RunConfig:
    config = tiny_run(3)
    return replace(
        config,
        model=replace(config.model, likelihood=likelihood),
        training=replace(config.training, frame_nats=frame_nats, length=length),
    )


def sampled(config: RunConfig) -> NDArray[np.float64]:
    """The frames (M, *frame) that a session looks at before the first step."""
    length = config.training.length
    batch = config.data.batch(
        math.ceil(ESTIMATION_FRAMES / length), length, training_rng(config.seed)
    )
    return batch.frames.reshape(-1, *config.data.frame).astype(np.float64)


def variation(frames: NDArray[np.float64], likelihood: str) -> float:
    """How many nats a frame is worth, next to the mean of all frames."""
    mean = frames.mean(0)
    if likelihood == "gaussian":
        return float(((frames - mean) ** 2).sum() / 2 / len(frames))

    def cross_entropy(p: NDArray[np.float64]) -> float:
        p = p.clip(1e-3, 1 - 1e-3)
        return float(-(frames * np.log(p) + (1 - frames) * np.log(1 - p)).sum())

    return (cross_entropy(mean) - cross_entropy(frames)) / len(frames)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
class TestFrameNats:
    @pytest.mark.parametrize("nats", [0.5, 200.0])
    def test_is_what_the_variation_of_the_frames_is_worth(
        self, likelihood: str, nats: float
    ) -> None:
        config = with_data(likelihood, nats)
        worth = variation(sampled(config), likelihood)
        assert worth > 0.1
        assert Session(config).reconstruction_weight * worth == pytest.approx(nats, rel=1e-4)

    def test_0_is_the_weight_1(self, likelihood: str) -> None:
        assert Session(with_data(likelihood, 0.0)).reconstruction_weight == 1

    def test_does_not_change_the_data_that_follows(self, likelihood: str) -> None:
        weighted, plain = (Session(with_data(likelihood, nats)).batch() for nats in (9.0, 0.0))
        assert torch.equal(weighted, plain)

    def test_is_the_same_after_a_restart(self, likelihood: str, tmp_path: Path) -> None:
        config = with_data(likelihood, 9.0)
        first = Session(config)
        train(config, tmp_path, until=1)
        again = Session(config)
        again.restore(RunFolder(tmp_path).load())
        assert again.reconstruction_weight == first.reconstruction_weight


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("network", ["folded", "world-models"])
def test_an_untrained_decoder_paints_the_mean_colour_of_the_data(
    likelihood: str, network: str
) -> None:
    config = with_data(likelihood, 0.0)
    config = replace(config, model=replace(config.model, network=network))
    model = Session(config).model
    with torch.no_grad():
        painted = model.reconstruct(torch.zeros(1, 1, config.model.width))
    mean = torch.from_numpy(sampled(config)).mean((0, 2, 3)).float()
    wanted = mean.view(3, 1, 1).expand(painted.shape)
    near = 0.1 if network == "folded" else 1e-5  # places differ a little from the start
    torch.testing.assert_close(painted, wanted, rtol=1e-4, atol=near)


def test_an_untrained_decoder_of_vectors_gives_their_mean() -> None:
    config = with_data("gaussian", 0.0)
    config = replace(config, data=Synthetic(), model=replace(config.model, frame=(1,)))
    with torch.no_grad():
        given = Session(config).model.reconstruct(torch.zeros(1, 1, config.model.width))
    assert given.item() == pytest.approx(float(sampled(config).mean()), abs=1e-5)


def staged(*stages: Stage, **model: object) -> Session:
    config = tiny_run(10)
    return Session(replace(config, stages=stages, model=replace(config.model, **model)))


class TestRules:
    QUIET = Stage("quiet", 0.5, criteria=("CU",))
    RANDOM = Stage("random", 0.5, random_updates=0.25)

    def test_ce_decides_only_in_stages_that_let_it(self) -> None:
        session = staged(self.QUIET, Stage("free", 0.5))
        assert session.rule_at(0) == Subjective(expected=False)
        assert session.rule_at(5) == Subjective()

    def test_ce_is_not_switched_on_where_the_model_has_none(self) -> None:
        session = staged(Stage("free", 1.0), expected=False)
        assert session.rule_at(0) == Subjective(expected=False)

    def test_without_cu_ce_decides_from_the_start(self) -> None:
        session = staged(self.QUIET, Stage("free", 0.5), unexpected=False)
        assert session.rule_at(0) == Subjective(unexpected=False)

    def test_a_stage_without_criteria_has_random_updates_only(self) -> None:
        session = staged(replace(self.RANDOM, criteria=()), Stage("plain", 0.5))
        none = Subjective(expected=False, unexpected=False)
        assert session.training_rule() == RandomUpdates(none, 0.25, session.random_updates_rng)
        only_ce = staged(replace(self.RANDOM, criteria=(), share=1.0), unexpected=False)
        assert only_ce.rule_at(0) == none

    def test_random_updates_surround_the_rule_of_their_stage(self) -> None:
        session = staged(self.RANDOM, Stage("plain", 0.5))
        assert session.training_rule() == RandomUpdates(
            Subjective(), 0.25, session.random_updates_rng
        )
        session.step = 5
        assert session.training_rule() == Subjective()

    def test_rules_without_criteria_have_no_random_updates(self) -> None:
        session = staged(replace(self.RANDOM, share=1.0, criteria=("CU",)), rule="always")
        assert session.training_rule() == Always()


def test_beta_is_that_of_the_coming_step() -> None:
    session = staged(Stage("anneal", 0.4, beta=(0.0, 1.0)), Stage("train", 0.6))
    betas = []
    for session.step in range(6):
        betas.append(session.beta())
    rise = [0, 0.25, 0.5, 0.75, 1, 1]
    assert betas == [[pytest.approx(beta)] * 2 for beta in rise]


def test_every_level_has_its_own_beta() -> None:
    stages = Stage("cheap", 0.5, beta_ratio=(0.01, 1.0)), Stage("train", 0.5)
    session = staged(*stages, levels=3)
    assert session.beta() == pytest.approx([1, 0.01, 0.0001])
    session.step = 3
    ratio = 0.01**0.4
    assert session.beta() == pytest.approx([1, ratio, ratio**2])
    session.step = 5
    assert session.beta() == [1, 1, 1]


def test_windows_are_carried_from_step_to_step() -> None:
    session = staged(Stage("train", 1.0))
    assert [window.pushed.tolist() for window in session.initial_state().windows] == [[0, 0, 0]]
    with torch.no_grad():
        trace = session.model.observe(session.batch(), session.initial_state())
    session.advance(trace, 0.0)
    state = session.initial_state()
    assert [window.pushed.tolist() for window in state.windows] == [[3, 3, 3]]
    assert state.time.tolist() == [0, 0, 0]
    assert torch.equal(session.model.typical_kl[0], trace.state.windows[0].mean().mean())
