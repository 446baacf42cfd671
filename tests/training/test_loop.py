"""Training learns, and resumes as if it had not stopped."""

import json
import math
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.conftest import short, tiny_run
from vpr import VPRError
from vpr.config import RunConfig
from vpr.data import Synthetic
from vpr.presets import PRESETS
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import Progress, _clip, kl_balancing_weights, train
from vpr.training.session import Session
from vpr.training.stages import Stage


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


def test_a_gradient_that_is_not_finite_is_refused() -> None:
    model = Session(tiny_run(1)).model
    for weight in model.parameters():
        weight.grad = torch.full_like(weight, math.inf)
    with pytest.raises(VPRError, match="the gradient is inf at step 4"):
        _clip(model, 1.0, step=3)


def test_killed_between_checkpoints_goes_on_from_the_last(tmp_path: Path) -> None:
    config = tiny_run(steps=6)
    train(config, tmp_path / "whole")

    def die(progress: Progress) -> None:
        if progress.step == 5:
            raise MemoryError

    with pytest.raises(MemoryError):
        train(config, tmp_path / "killed", on_step=die)
    assert RunFolder(tmp_path / "killed").load().notes["step"] == 4
    train(config, tmp_path / "killed")
    whole, killed = _tensors(tmp_path / "whole"), _tensors(tmp_path / "killed")
    assert all(torch.equal(whole[key], killed[key]) for key in whole)


def test_finished_run_is_left_alone(tmp_path: Path) -> None:
    config = tiny_run(steps=2)
    train(config, tmp_path)
    steps: list[Progress] = []
    assert train(config, tmp_path, on_step=steps.append).finished
    assert steps == []


def test_ctrl_c_saves_and_stops(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = train(tiny_run(steps=9), tmp_path, on_step=interrupt)
    assert outcome.step == 3
    assert outcome.interrupted
    assert not outcome.finished
    assert RunFolder(tmp_path).load().notes["step"] == 3


def test_the_second_ctrl_c_says_what_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def interrupt_twice(progress: Progress) -> None:
        if progress.step == 3:
            os.kill(os.getpid(), signal.SIGINT)
            assert "A second Ctrl-C stops at once" in caplog.text
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(tiny_run(steps=9), tmp_path, on_step=interrupt_twice)
    assert "the last checkpoint is of step 2" in caplog.text
    assert RunFolder(tmp_path).load().notes["step"] == 2
    assert train(tiny_run(steps=9), tmp_path).finished


def test_more_steps_make_the_last_stage_longer(tmp_path: Path) -> None:
    """The other stages stay as long as they were, and the learning rate falls until the new end."""
    short_run, long_run = tiny_run(steps=6), tiny_run(steps=10)
    train(short_run, tmp_path / "a")
    steps: list[Progress] = []
    rates: list[float] = []
    outcome = train(
        long_run,
        tmp_path / "a",
        on_step=steps.append,
        inspect=lambda session: rates.append(session.optimiser.param_groups[0]["lr"]),
    )
    assert outcome.finished
    assert [progress.step for progress in steps] == [7, 8, 9, 10]
    assert {progress.stage for progress in steps} == {short_run.stages[-1].name}
    assert steps[0].steps == 10
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1] > 0
    assert RunFolder(tmp_path / "a").config() == long_run
    lines = [json.loads(line) for line in (tmp_path / "a" / "metrics.jsonl").open()]
    assert [line["step"] for line in lines] == list(range(1, 11))
    before = Session(short_run)
    assert [line["stage"] for line in lines[:6]] == [before.stage(n).name for n in range(6)]


def test_an_extended_run_resumes_bit_for_bit_and_can_be_extended_again(tmp_path: Path) -> None:
    for name, stops in (("whole", ()), ("parts", (7, 8))):
        train(tiny_run(steps=6), tmp_path / name)
        for step in stops:
            assert not train(tiny_run(steps=9), tmp_path / name, until=step).finished
        assert train(tiny_run(steps=9), tmp_path / name).finished
        assert train(tiny_run(steps=11), tmp_path / name).finished
        first = Session(tiny_run(steps=6)).schedule.stage_ends
        assert RunFolder(tmp_path / name).load().notes["ends"] == [*first[:-1], 11]
    whole, parts = _tensors(tmp_path / "whole"), _tensors(tmp_path / "parts")
    assert all(torch.equal(whole[key], parts[key]) for key in whole)


def test_a_stage_ends_when_the_frames_are_explained_and_resuming_keeps_its_end(
    tmp_path: Path,
) -> None:
    """The steps that are left are shared among the later stages, also after an interruption."""

    def run(until_explained: float, name: str, stops: tuple[int, ...]) -> list[tuple[str, float]]:
        first = Stage("first", 0.6, until_explained=until_explained)
        config = replace(tiny_run(steps=20), stages=(first, *later))
        seen: list[tuple[str, float]] = []

        def note(session: Session) -> None:
            seen.append((session.stage(session.step - 1).name, session.explained))

        for stop in (*stops, None):
            train(config, tmp_path / name, until=stop, inspect=note)
        return seen

    later = (Stage("second", 0.2), Stage("third", 0.2, decay=True))
    explained = [value for _, value in run(1.0, "whole", ())]
    threshold = max(explained[:8])
    end = explained.index(threshold) + 1
    assert 1 < end < 12
    names = [name for name, _ in run(threshold, "parts", (1, end - 1, end, end + 3))]
    half = end + round((20 - end) / 2)
    assert names == ["first"] * end + ["second"] * (half - end) + ["third"] * (20 - half)


def test_a_run_is_not_made_shorter_and_nothing_else_changes(tmp_path: Path) -> None:
    train(tiny_run(steps=4), tmp_path)
    with pytest.raises(VPRError, match=r"a run of 4 steps: give --training.steps 4 to resume it"):
        train(tiny_run(steps=3), tmp_path)
    with pytest.raises(VPRError, match="seed is 0 there and 1 here"):
        train(replace(tiny_run(steps=8), seed=1), tmp_path)
    assert RunFolder(tmp_path).config() == tiny_run(steps=4)
    assert RunFolder(tmp_path).load().notes["ends"][-1] == 4


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"beta": lambda self: [math.nan, 1.0]}, r"loss is nan at step 5.*checkpoint is intact"),
        ({"batch": lambda self: torch.full((3, 4, 3, 16, 16), math.nan)}, "NaN"),
    ],
)
def test_numbers_that_are_not_finite_stop_with_the_last_checkpoint_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: dict[str, object], says: str
) -> None:
    config = tiny_run(steps=9)
    train(config, tmp_path, until=4)
    before = _tensors(tmp_path)
    for name, method in broken.items():
        monkeypatch.setattr(Session, name, method)
    with pytest.raises(VPRError, match=says):
        train(config, tmp_path)
    after = _tensors(tmp_path)
    assert all(torch.equal(before[key], after[key]) for key in before)


def _lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_metrics_tell_every_level_and_stage(tmp_path: Path) -> None:
    train(tiny_run(steps=3, levels=3), tmp_path)
    lines = _lines(tmp_path)
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert [line["stage"] for line in lines] == ["reconstruct", "anneal", "train"]
    for line in lines:
        assert len(line["kl"]) == len(line["update_rate"]) == 3
        assert all(len(values) == 3 for values in line["objectives"].values())
    expected = [[0.001] * 3, [0.001, 0.0001, 0.00001], [1.0] * 3]
    assert [line["beta"] for line in lines] == [pytest.approx(betas) for betas in expected]
    assert [set(line["objectives"]) for line in lines] == [
        {"persistence"},
        set(),
        {"persistence", "overshooting"},
    ]
    assert list((tmp_path / "tensorboard").iterdir())


def _watched(config: RunConfig, folder: Path) -> list[Progress]:
    seen: list[Progress] = []
    train(config, folder, on_step=seen.append)
    return seen


def _with(config: RunConfig, **training: object) -> RunConfig:
    return replace(config, training=replace(config.training, **training))


@pytest.mark.parametrize("frame_nats", [0.0, 50.0])
def test_the_loss_is_the_weighted_sum_of_its_terms(tmp_path: Path, frame_nats: float) -> None:
    config = _with(tiny_run(steps=7, levels=3), frame_nats=frame_nats)
    weight = Session(config).reconstruction_weight
    for now in _watched(config, tmp_path):
        terms = zip(now.kl, *now.objectives.values(), strict=True)  # of each level
        weighted = sum(beta * sum(level) for beta, level in zip(now.beta, terms, strict=True))
        total = weight * now.reconstruction + weighted
        assert now.loss == pytest.approx(total, rel=1e-5)


def test_kl_balancing_weights_each_level_by_its_share_while_beta_is_below_1(
    tmp_path: Path,
) -> None:
    stages = (Stage("anneal", 0.5, beta=(0.0, 1.0)), Stage("train", 0.5))
    config = replace(_with(tiny_run(steps=6, levels=3), kl_balancing=True), stages=stages)
    seen = _watched(config, tmp_path)
    assert [now.beta[0] for now in seen] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1, 1])
    for now in seen:
        mean = sum(now.kl) / 3
        shares = [kl / mean if now.beta[0] < 1 else 1.0 for kl in now.kl]
        spent = now.beta[0] * sum(share * kl for share, kl in zip(shares, now.kl, strict=True))
        assert now.loss == pytest.approx(now.reconstruction + spent, rel=1e-5)


def test_balance_has_a_mean_of_1_and_no_gradient() -> None:
    kl = torch.tensor([1.0, 2.0, 6.0], requires_grad=True)
    assert kl_balancing_weights(kl).tolist() == pytest.approx([1 / 3, 2 / 3, 2])
    assert not kl_balancing_weights(kl).requires_grad
    assert kl_balancing_weights(torch.zeros(2)).tolist() == [0, 0]


def test_reconstruction_of_plain_vectors_is_learned(tmp_path: Path) -> None:
    config = tiny_run(steps=150)
    config = replace(
        config,
        data=Synthetic(),
        model=replace(config.model, frame=(1,), likelihood="gaussian"),
        stages=(Stage("reconstruct", 1.0, beta=(0.0, 0.001), decay=True),),
    )
    errors = [now.reconstruction for now in _watched(config, tmp_path)]
    assert sum(errors[-20:]) < 0.3 * sum(errors[:20])


def test_the_learning_rate_is_that_of_the_stages(tmp_path: Path) -> None:
    config, rates = tiny_run(steps=10), []
    train(config, tmp_path, inspect=lambda session: rates.append(session.learning_rate()))
    training = config.training
    assert rates[:6] == [training.learning_rate] * 6  # of the coming step
    assert rates[5:] == sorted(rates[5:], reverse=True)
    assert len(set(rates[5:])) == 5
    assert rates[-1] == pytest.approx(training.final_learning_rate)


def test_a_run_goes_through_all_its_stages(tmp_path: Path) -> None:
    config = tiny_run(steps=10)
    seen = _watched(config, tmp_path)
    assert [now.stage for now in seen] == ["reconstruct"] * 3 + ["anneal"] * 3 + ["train"] * 4
    assert [now.step for now in seen] == list(range(1, 11))
    assert {now.steps for now in seen} == {10}
    outcome = train(config, tmp_path)
    assert outcome.finished
    assert outcome.step == 10


def test_one_may_look_after_every_step(tmp_path: Path) -> None:
    seen: list[int] = []
    train(tiny_run(steps=6), tmp_path, inspect=lambda session: seen.append(session.step))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    config = tiny_run(steps=4)

    def intrude(progress: Progress) -> None:
        with pytest.raises(VPRError, match="another process is training"):
            train(config, tmp_path)

    train(config, tmp_path, on_step=intrude, until=1)
    assert train(config, tmp_path).finished


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_trains(name: str, tmp_path: Path) -> None:
    config = PRESETS[name]
    training = replace(config.training, steps=1, batch_size=2, length=3)
    model = replace(config.model, width=min(config.model.width, 200))  # 1024 takes minutes
    data = short(config.data)
    model = replace(model, frame=data.frame)
    config = replace(config, model=model, training=training, data=data)
    assert train(config, tmp_path).finished
