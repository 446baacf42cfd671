"""The minimal VPR, compared with a literal loop, and the experiment on Synthetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from vpr.beliefs import Belief, kl
from vpr.data import Synthetic, evaluation_rng, training_rng
from vpr.evaluation import score
from vpr.events import Subjective
from vpr.events import Window as Reference
from vpr.experiments.figures.synthetic import EXPERIMENT, NOISY, claims, draw, measure, variants
from vpr.experiments.runner.experiment import Measured, Result, Results
from vpr.experiments.runner.store import load, result_path, save
from vpr.experiments.shared.minimal_vpr import Detections, MinimalConfig, MinimalVPR, Values, Window

SMALL = MinimalConfig(batch_size=3, length=30, window=7, hidden=8, steps=6, look_every=3)


def sequences(config: MinimalConfig, seed: int = 0) -> tuple[Values, np.ndarray]:
    """q (B, T), and its jumps."""
    rng = evaluation_rng(seed)
    batch = config.data.batch(config.batch_size, config.length, rng)
    return MinimalVPR(config, seed).posterior(batch.frames, rng), batch.changes["value"]


def observe_literally(model: MinimalVPR, q: Values) -> Detections:
    """One sequence at a time, with the beliefs and the rule of the full model."""
    config = model.config
    rule = Subjective(unexpected=config.unexpected, gamma=config.gamma, window=config.window)
    rows = [_observe_one(model, rule, torch.from_numpy(row)) for row in q]
    return Detections(*(np.asarray(values) for values in zip(*rows, strict=True)))


def _observe_one(model: MinimalVPR, rule: Subjective, q: torch.Tensor) -> list[list[float]]:
    window = Reference.filled(1, rule.window, torch.tensor(torch.nan).double())
    s, first = q[:1], torch.zeros(1, dtype=torch.long)
    std = torch.full((1,), model.config.std).double()
    found = [[s.item(), False, False, False]]
    for now in q[1:]:
        new = Belief(now[None], std)
        d_st, d_ch = kl(new, Belief(s, std))[None], kl(new, model.transition(s[0]))[None]
        decision = rule.decide(2, first, d_st, d_ch, window.mean())
        unexpected = bool(d_st > decision.threshold)  # also if CU is not used
        found.append([s.item(), bool(decision.expected), unexpected, bool(decision.boundary)])
        window = window.push(d_st, first)
        s = now[None] if decision.boundary else s
    return [list(values) for values in zip(*found, strict=True)]


@pytest.mark.parametrize("unexpected", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_batches_equal_the_literal_loop(unexpected: bool, noise: float) -> None:
    config = replace(SMALL, unexpected=unexpected, noise=noise)
    model, q = MinimalVPR(config, 0), sequences(config)[0].astype(np.float64)
    model.transition.double()
    with torch.no_grad():
        wanted = observe_literally(model, q)
    found = model.observe(q, Window(len(q), config.window))
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert found.boundary.any()


def test_the_window_is_kept_between_batches() -> None:
    model, (q, _) = MinimalVPR(SMALL, 0), sequences(SMALL)
    frames = SMALL.length - 1
    model.train_step(q)
    before = model.window.values.copy()
    model.detect(q)
    assert model.window.pushed == frames
    np.testing.assert_array_equal(model.window.values, before)
    model.train_step(q)
    assert model.window.pushed == 2 * frames


def test_the_mean_of_an_empty_window_is_infinite() -> None:
    assert np.isinf(Window(2, 3).mean()).all()
    assert Window(2, 3, initial=1.5).mean().tolist() == [1.5, 1.5]


class Known(nn.Module):
    """A transition that predicts the value `shift` places on, with the σ of the posterior."""

    def __init__(self, config: MinimalConfig, shift: int) -> None:
        super().__init__()
        self.config, self.shift = config, shift

    def forward(self, s: torch.Tensor) -> Belief:
        value = (s / self.config.apart + self.shift) % self.config.data.values
        mean = (value * self.config.apart).unsqueeze(-1)
        return Belief(mean, torch.full_like(mean, self.config.std))


def test_a_perfect_transition_finds_every_jump_without_noise() -> None:
    config = replace(SMALL, unexpected=False)
    model, (q, true) = MinimalVPR(config, 0), sequences(config)
    model.transition = Known(config, shift=2)  # type: ignore[assignment]
    assert score(model.detect(q).boundary, true).f1 == 1


def test_without_updates_nothing_is_learned() -> None:
    config = replace(SMALL, unexpected=False)
    model, (q, true) = MinimalVPR(config, 0), sequences(config)
    model.transition = Known(config, shift=0)  # type: ignore[assignment]  # predicts no change
    found = model.train_step(q)
    assert true.any()
    assert not found.boundary.any()
    assert found.unexpected.any()


def test_the_prediction_of_random_jumps_becomes_wide() -> None:
    config = replace(SMALL, data=Synthetic(values=20), hidden=32, batch_size=16)
    model, rng = MinimalVPR(config, 0), training_rng(0)

    def width() -> float:
        with torch.no_grad():
            return float(model.transition(torch.arange(20) * config.apart).std.mean())

    before = width()
    assert before < 2 * config.std
    for _ in range(60):
        batch = config.data.batch(config.batch_size, config.length, rng)
        model.train_step(model.posterior(batch.frames, rng))
    assert width() > 2 * before


def test_training_reduces_the_prediction_error() -> None:
    config = replace(SMALL, hidden=32, batch_size=16, learning_rate=1e-2)
    model, rng = MinimalVPR(config, 0), training_rng(0)

    def train_step() -> float:
        batch = config.data.batch(config.batch_size, config.length, rng)
        found = model.train_step(q := model.posterior(batch.frames, rng))
        with torch.no_grad():
            predicted = model.transition(torch.from_numpy(found.state[found.boundary])).mean
        return float(((q[found.boundary] - predicted.squeeze(-1).numpy()) ** 2).mean())

    errors = [train_step() for _ in range(150)]
    assert np.mean(errors[-5:]) < 0.5 * np.mean(errors[:5])


def test_the_same_seed_is_the_same_run(tmp_path: Path) -> None:
    def run(seed: int) -> dict[str, object]:
        config = replace(SMALL, noise=0.4)
        return measure(config, seed, tmp_path, lambda done, total, note: None).metrics

    assert run(1) == run(1) != run(2)


def tiny_results() -> Results:
    """Every variant at scale tiny, two seeds."""
    return {
        name: [Result(name, seed, {}, {}, 0.0, _metrics(config, seed)) for seed in range(2)]
        for name, config in variants("tiny").items()
    }


def _metrics(config: MinimalConfig, seed: int) -> dict[str, object]:
    return measure(config, seed, Path(), lambda done, total, note: None).metrics


@pytest.fixture(scope="module")
def results() -> Results:
    return tiny_results()


def test_figure_and_claims_of_existing_results(results: Results) -> None:
    pytest.importorskip("matplotlib")
    some = {name: results[name] for name in (NOISY, "chance-n0.0")}
    for part in (results, some, {"chance-n0.0": results["chance-n0.0"]}):
        assert len(draw(part).axes) == 4
        rows = claims(part)
        assert rows
        assert all(len(row.ours) == 2 for row in rows)
    assert len(claims(some)) < len(claims(results))


def test_variants_have_separate_files(tmp_path: Path) -> None:
    for name, config in variants("cpu").items():
        save(result_path(tmp_path, EXPERIMENT, name, 3), config, 3, Measured({}, 0.0))
    found = load(tmp_path, EXPERIMENT, "cpu")
    assert {name: len(runs) for name, runs in found.items()} == dict.fromkeys(variants("cpu"), 1)


def test_random_jumps_are_the_data_of_the_paper() -> None:
    assert variants("cpu")["chance-n0.0"].data == Synthetic(values=20)
