"""Training learns, stops and goes on as if nothing had happened."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.conftest import short, tiny_run
from vpr import VPRError
from vpr.checkpoint import RunFolder
from vpr.config import RunConfig, TrainingConfig
from vpr.data import Synthetic
from vpr.events import Always, Exploring, Holding, Subjective
from vpr.presets import PRESETS
from vpr.schedule import Linear, Weights
from vpr.session import Session, learning_rate
from vpr.training import (
    Progress,
    _clip,
    rule_in_force,
    train,
    training_rule,
)
from vpr.tree import tree_leaves


def _tensors(folder: Path) -> dict[str, torch.Tensor]:
    return RunFolder(folder).load().tensors


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("stops", [(1,), (4,), (2, 3, 6)])
def test_stopped_and_resumed_equals_whole(
    tmp_path: Path, levels: int, stops: tuple[int, ...]
) -> None:
    config = tiny_run(steps=7, levels=levels)
    train(config, tmp_path / "whole")
    for step in stops:
        assert not train(config, tmp_path / "parts", until=step).finished
    assert train(config, tmp_path / "parts").finished
    whole, parts = _tensors(tmp_path / "whole"), _tensors(tmp_path / "parts")
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    files = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "parts")]
    assert files[0] == files[1]


@pytest.mark.parametrize("largest", [0.01, 1e9])
def test_a_long_gradient_is_scaled_down(largest: float) -> None:
    model = Session(tiny_run(1)).model
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    slopes = [weight.grad for weight in model.parameters()]
    count = sum(slope.numel() for slope in slopes)
    _clip(model, largest, step=0)
    wanted = min(largest, count**0.5)
    assert torch.cat([slope.flatten() for slope in slopes]).norm().item() == pytest.approx(
        wanted, rel=1e-5
    )


def test_killed_between_checkpoints_goes_on_from_the_last(tmp_path: Path) -> None:
    config = tiny_run(steps=6)
    train(config, tmp_path / "whole")

    def die(progress: Progress) -> None:
        if progress.step == 5:
            raise MemoryError

    with pytest.raises(MemoryError):
        train(config, tmp_path / "killed", watch=die)
    assert RunFolder(tmp_path / "killed").load().notes["step"] == 4
    train(config, tmp_path / "killed")
    whole, killed = _tensors(tmp_path / "whole"), _tensors(tmp_path / "killed")
    assert all(torch.equal(whole[key], killed[key]) for key in whole)


def test_finished_run_is_left_alone(tmp_path: Path) -> None:
    config = tiny_run(steps=2)
    train(config, tmp_path)
    steps: list[Progress] = []
    assert train(config, tmp_path, watch=steps.append).finished
    assert steps == []


def test_ctrl_c_saves_and_stops(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = train(tiny_run(steps=9), tmp_path, watch=interrupt)
    assert outcome.step == 3
    assert outcome.interrupted
    assert not outcome.finished
    assert RunFolder(tmp_path).load().notes["step"] == 3


def test_non_finite_loss_stops_with_the_last_checkpoint_intact(tmp_path: Path) -> None:
    config = tiny_run(steps=9)
    train(config, tmp_path, until=4)
    before = _tensors(tmp_path)
    with pytest.raises(VPRError, match=r"loss is nan at step 5.*checkpoint is intact"):
        _train_on_nan(config, tmp_path)
    after = _tensors(tmp_path)
    assert all(torch.equal(before[key], after[key]) for key in before)


def _train_on_nan(config: RunConfig, folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        batch = Session.batch
        patch.setattr(Session, "batch", lambda self: batch(self) * (torch.nan if self.step else 1))
        train(config, folder)


def test_metrics_tell_every_level(tmp_path: Path) -> None:
    train(tiny_run(steps=2, levels=3), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2]
    assert all(len(line["kl"]) == len(line["update_rate"]) == 3 for line in lines)
    assert list((tmp_path / "tensorboard").iterdir())


def test_reconstruction_of_plain_vectors_is_learned(tmp_path: Path) -> None:
    config = tiny_run(steps=150)
    config = replace(
        config,
        data=Synthetic(),
        model=replace(config.model, frame=(1,), likelihood="gaussian"),
        schedule=Linear(100_000),
    )
    errors: list[float] = []
    train(config, tmp_path, watch=lambda progress: errors.append(progress.reconstruction))
    assert sum(errors[-20:]) < 0.3 * sum(errors[:20])


def test_kl_balancing_changes_only_the_weights_of_the_levels(tmp_path: Path) -> None:
    config = tiny_run(steps=1)
    session = Session(config)
    video = session.batch()
    noise = session.model.noise(*video.shape[:2], session.noise)
    weights = Linear().weights(1500, 2, None)
    plain = session.model.loss(video, noise=noise, weights=weights)
    balanced = session.model.loss(video, noise=noise, weights=weights, kl_balancing=True)
    share = plain.kl / plain.kl.mean()
    expected = plain.reconstruction + 0.5 * (share * plain.kl).sum()
    assert torch.allclose(balanced.total, expected)
    assert torch.equal(balanced.kl, plain.kl)


def test_learning_rate_is_the_papers_cosine() -> None:
    paper = TrainingConfig()
    assert learning_rate(0, 0, paper) == pytest.approx(5e-4)
    assert learning_rate(7500, 7500, paper) == pytest.approx((5e-4 + 5e-5) / 2)
    assert learning_rate(15_000, 15_000, paper) == pytest.approx(5e-5)
    assert learning_rate(99_999, 99_999, paper) == pytest.approx(5e-5)
    warm = TrainingConfig(warmup_steps=100)
    assert learning_rate(0, 0, warm) == pytest.approx(5e-6, rel=1e-3)
    assert learning_rate(99, 99, warm) == learning_rate(99, 99, paper)


def test_a_staged_run_decays_and_ends_by_its_curve(tmp_path: Path) -> None:
    config = tiny_run(steps=50)
    schedule = replace(config.schedule, settle_tolerance=0.99)
    training = replace(config.training, decay_steps=6)
    config = replace(config, schedule=schedule, training=training)
    rates: dict[int, float] = {}

    def look(session: Session) -> None:
        rates[session.step] = session.learning_rate()

    outcome = train(config, tmp_path, look=look)
    assert outcome.settled == 3  # the first block is the best so far; two without progress follow
    assert outcome.finished
    assert outcome.step == 3 + 6
    assert rates[1] == rates[3] == training.learning_rate
    assert rates[9] == pytest.approx(training.final_learning_rate)
    assert rates[3] > rates[5] > rates[7]


def test_sequences_are_short_until_the_curve_settled(tmp_path: Path) -> None:
    config = tiny_run(steps=50)
    schedule = replace(config.schedule, settle_tolerance=0.99)
    training = replace(config.training, settling_length=2, decay_steps=2)
    config = replace(config, schedule=schedule, training=training)
    seen: list[tuple[bool, int]] = []

    def look(session: Session) -> None:
        seen.append((session.curve.settled is None, session.shape()[1]))

    train(config, tmp_path, look=look)
    lengths = dict(seen)
    assert lengths == {True: 2, False: config.training.length}
    other = replace(config, schedule=Linear())
    assert Session(other).shape()[1] == config.training.length


def test_a_staged_run_may_end_on_longer_sequences(tmp_path: Path) -> None:
    config = tiny_run(steps=50)
    schedule = replace(config.schedule, settle_tolerance=0.99)
    training = replace(config.training, decay_steps=2, long_steps=3, long_length=9, recognition=0.5)
    config = replace(config, schedule=schedule, training=training)
    seen: dict[int, tuple[int, float, float]] = {}

    def look(session: Session) -> None:
        recognition = session.weights().recognition
        seen[session.step] = session.shape()[1], session.learning_rate(), recognition

    outcome = train(config, tmp_path, look=look)
    assert outcome.finished
    assert outcome.step == 3 + 2 + 3  # settled, the rate has fallen, and then the long ones
    assert seen[4][0] == training.length
    assert {seen[step][0] for step in (5, 6, 7)} == {9}  # of the coming step
    assert {seen[step][1] for step in (5, 6, 7)} == {training.final_learning_rate}
    assert [seen[step][2] for step in (4, 5, 6, 7)] == [0, 0.5, 0.5, 0.5]


def in_parts(steps: int = 50, fresh: float = 0.0) -> RunConfig:
    """3 steps until it has settled, 2 until the rate has fallen, 7 on parts of long sequences."""
    config = tiny_run(steps=steps)
    schedule = replace(config.schedule, settle_tolerance=0.99)
    long = {"decay_steps": 2, "long_steps": 7, "long_length": 4, "long_parts": 3}
    shares = {"long_painted": 0.5, "long_fresh": fresh, "stale": 0.3}
    training = replace(config.training, **long, **shares, foresight=0.5)
    return replace(config, schedule=schedule, training=training)


def test_the_state_is_carried_from_part_to_part(tmp_path: Path) -> None:
    seen: dict[int, int] = {}

    def look(session: Session) -> None:
        seen[session.step] = int(session.initial_state().time[0])

    train(in_parts(), tmp_path, look=look)
    assert [seen[step] for step in range(4, 12)] == [0, 0, 4, 8, 0, 4, 8, 0]  # of the coming step


def test_a_share_of_the_sequences_begins_anew_with_every_part(tmp_path: Path) -> None:
    times: dict[int, list[int]] = {}

    def look(session: Session) -> None:
        state = session.initial_state()
        times[session.step] = state.time.tolist()
        if session.carried is None:
            return
        fresh = session.model.initial(3)
        for now, opening in zip(state.blocks, fresh.blocks, strict=True):
            for each, unseen in zip(tree_leaves(now), tree_leaves(opening), strict=True):
                assert torch.equal(each[0], unseen[0])
        assert session.carried.led is not None
        assert all(not d[0].any() and d[1:].any() for d in session.carried.led)
        for kept, window in zip(state.windows, session.windows or (), strict=True):
            assert all(torch.equal(a, b) for a, b in zip(kept, window, strict=True))

    train(in_parts(fresh=0.3), tmp_path, look=look)  # one of three
    assert [times[step] for step in range(5, 9)] == [[0, 0, 0], [0, 4, 4], [0, 8, 8], [0, 0, 0]]


@pytest.fixture(scope="module", params=[0.0, 0.3])
def long_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RunConfig, Path]:
    """In parts, all carried over or one of three begun anew, trained without a stop."""
    config, folder = in_parts(fresh=request.param), tmp_path_factory.mktemp("whole")
    train(config, folder)
    return config, folder


@pytest.mark.parametrize("stop", range(5, 12))
def test_stopped_within_long_sequences_it_goes_on_as_if_it_had_not(
    long_run: tuple[RunConfig, Path], tmp_path: Path, stop: int
) -> None:
    config, folder = long_run
    assert not train(config, tmp_path, until=stop).finished
    assert train(config, tmp_path).finished
    whole, parts = _tensors(folder), _tensors(tmp_path)
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)


def test_foresight_and_stale_updates_belong_to_the_last_stage(tmp_path: Path) -> None:
    seen: dict[int, tuple[float, float]] = {}

    def look(session: Session) -> None:
        seen[session.step] = session.weights().foresight, session.weights().stale

    train(in_parts(), tmp_path, look=look)
    assert [seen[step] for step in (3, 4, 5, 11)] == [(0, 0), (0, 0), (0.5, 0.3), (0.5, 0.3)]


def rehearsed(**more: int) -> RunConfig:
    """12 steps, then 3 of rehearsal."""
    config = in_parts()
    asked = {"rehearsal_steps": 3, "rehearsal_sequences": 4, "rehearsal_parts": 2} | more
    return replace(config, training=replace(config.training, **asked))


def test_the_top_level_rehearses_in_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int, bool]] = []
    outcome = train(
        rehearsed(), tmp_path, watch=lambda now: seen.append((now.step, now.steps, bool(now.kl)))
    )
    assert outcome.finished
    assert outcome.step == 12
    assert outcome.rehearsed > 0
    assert seen[11] == (12, 12, True)
    assert seen[-3:] == [(1, 3, False), (2, 3, False), (3, 3, False)]
    again = train(rehearsed(), tmp_path, watch=lambda now: pytest.fail("it is finished"))
    assert again.finished
    assert again.rehearsed == outcome.rehearsed


def test_stopped_before_or_in_rehearsal_it_is_begun_anew(tmp_path: Path) -> None:
    train(rehearsed(), tmp_path / "whole")
    before = train(rehearsed(), tmp_path / "parts", until=12)
    assert not before.finished
    assert not before.interrupted
    kept = _tensors(tmp_path / "parts")

    def stop(now: Progress) -> None:
        if now.step == 2 and not now.kl:
            signal.raise_signal(signal.SIGINT)

    stopped = train(rehearsed(), tmp_path / "parts", watch=stop)
    assert stopped.interrupted
    assert not stopped.finished
    assert all(torch.equal(kept[key], each) for key, each in _tensors(tmp_path / "parts").items())
    assert train(rehearsed(), tmp_path / "parts").finished
    whole, parts = _tensors(tmp_path / "whole"), _tensors(tmp_path / "parts")
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    assert any(not torch.equal(whole[key], kept[key]) for key in whole)


def test_the_rate_lands_in_the_last_long_steps(tmp_path: Path) -> None:
    config = tiny_run(steps=50)
    schedule = replace(config.schedule, settle_tolerance=0.99)
    training = replace(config.training, decay_steps=2, long_steps=6, landing_steps=4)
    rates: list[float] = []
    train(
        replace(config, schedule=schedule, training=training),
        tmp_path,
        look=lambda session: rates.append(session.learning_rate()),
    )
    final = training.final_learning_rate
    assert rates[-7:-1] == pytest.approx([final * share for share in (1, 1, 1, 0.75, 0.5, 0.25)])


def test_recognition_may_begin_with_ce() -> None:
    config = tiny_run(steps=50)
    training = replace(config.training, recognition=0.5, recognition_early=True)
    session = Session(replace(config, training=training))
    assert session.weights().recognition == 0
    session.curve.settled, session.step = 10, 10 + 2  # both β have risen by then
    assert session.weights().expected
    assert session.weights().recognition == 0.5


def test_one_may_look_after_every_step(tmp_path: Path) -> None:
    seen: list[int] = []
    train(tiny_run(steps=6), tmp_path, look=lambda session: seen.append(session.step))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_ce_is_silent_while_cu_teaches_unless_there_is_no_cu() -> None:
    silent, free = Weights(1.0, (1.0,), expected=False), Weights(1.0, (1.0,))
    assert rule_in_force(Subjective(), silent) == Subjective(expected=False)
    assert rule_in_force(Subjective(), free) == Subjective()
    assert rule_in_force(Subjective(expected=False), free) == Subjective(expected=False)
    alone = Subjective(unexpected=False)
    assert rule_in_force(alone, silent) == alone
    assert rule_in_force(Always(), silent) == Always()
    assert rule_in_force(Subjective(), free._replace(power=0.5)) == Subjective(power=0.5)


def test_chance_and_holding_are_for_beliefs_not_for_clocks() -> None:
    chance, plain = torch.Generator(), Weights(1.0, (1.0,))
    rich = plain._replace(explore=0.1, held=3)
    assert training_rule(Subjective(), plain, chance) == Subjective()
    explored = Exploring(Subjective(), 0.1, chance)
    assert training_rule(Subjective(), rich, chance) == Holding(explored, 3)
    assert training_rule(Always(), rich, chance) == Always()


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    config = tiny_run(steps=4)

    def intrude(progress: Progress) -> None:
        with pytest.raises(VPRError, match="another process is training"):
            train(config, tmp_path)

    train(config, tmp_path, watch=intrude, until=1)
    assert train(config, tmp_path).finished


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_trains(name: str, tmp_path: Path) -> None:
    config = PRESETS[name]
    training = replace(
        config.training,
        steps=1,
        batch_size=2,
        length=3,
        settling_length=2,
        rehearsal_steps=min(config.training.rehearsal_steps, 2),
        rehearsal_sequences=2,
        rehearsal_parts=1,
    )
    model = replace(config.model, width=min(config.model.width, 200))  # 1024 takes minutes
    config = replace(config, model=model, training=training, data=short(config.data))
    assert train(config, tmp_path).finished
