"""The hierarchy against Algorithm 1, and the rules that hold for every model."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.oracle import (
    Decide,
    Level,
    Record,
    algorithm_1,
    fixed,
    negative_elbo,
    subjective,
)
from vpr.errors import VPRError
from vpr.events import Decision, Window
from vpr.model import VPR
from vpr.presets import preset
from vpr.state import LevelTrace, State, Trace
from vpr.utils.tree import tree_map, tree_put

Factory = Callable[..., Any]
BATCH, LENGTH = 3, 12
SEEDS = range(10, 17)
few = settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


class Table:
    """Updates read from a table (B, T, N), whatever is seen."""

    window = 4

    def __init__(self, table: Tensor) -> None:
        self.table = table

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        boundary = self.table[torch.arange(len(time)), time, level - 1]
        neither = torch.zeros_like(boundary)
        return Decision(neither, neither, boundary, torch.full_like(typical_kl, math.nan))


def random_table(batch: int, length: int, levels: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(batch, length, levels, generator=generator) < 0.7


def consult(
    model: VPR, video: Tensor, noise: Tensor | None, decide: Callable[[int], Decide], **kw: Any
) -> list[Record]:
    """The oracle on each sequence; `decide` receives its index."""
    return [
        algorithm_1(model, video[b], None if noise is None else noise[:, :, b], decide(b), **kw)
        for b in range(len(video))
    ]


def assert_close(found: Tensor, wanted: Any, tolerance: float) -> None:
    wanted = torch.as_tensor(wanted, dtype=found.dtype)
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def assert_same_trace(trace: Trace, records: list[Record], tolerance: float = 1e-9) -> None:
    for b, record in enumerate(records):
        assert_close(trace.c0[b], torch.stack(record.c0), tolerance)
        for n, level in enumerate(trace.levels):
            assert_same_level(level, b, [frame[n] for frame in record.levels], tolerance)
        for window, values in zip(trace.state.windows, record.windows[1:], strict=True):
            assert_same_window(window.values[b], int(window.pushed[b]), values, tolerance)


def assert_same_level(level: LevelTrace, b: int, seen: list[Any], tolerance: float) -> None:
    for name in ("boundary", "expected", "unexpected"):
        assert getattr(level.evidence, name)[b].tolist() == [getattr(v, name) for v in seen], name
    for name in ("kl_static", "kl_change", "threshold"):
        assert_close(getattr(level.evidence, name)[b], [getattr(v, name) for v in seen], tolerance)
    assert_close(level.kl[b], torch.stack([v.kl for v in seen]), tolerance)
    assert_close(level.s[b], torch.stack([v.s for v in seen]), tolerance)
    for name in ("q", "p"):
        for field in ("mean", "std"):
            wanted = torch.stack([getattr(getattr(v, name), field) for v in seen])
            assert_close(getattr(getattr(level, name), field)[b], wanted, tolerance)


def assert_same_window(ring: Tensor, count: int, values: list[float], tolerance: float) -> None:
    """The ring holds the oracle's list, oldest first from its place of writing."""
    size = len(ring)
    ordered = ring[:count] if count < size else ring.roll(-(count % size))
    assert_close(ordered, values, tolerance)


def assert_same_tree(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    def check(x: Tensor, y: Tensor) -> Tensor:
        torch.testing.assert_close(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        return x

    tree_map(check, a, b)


def upper(trace: Trace, n: int) -> Tensor:
    """Boundaries of level n (from 0) where its signal arrived, after the first frame."""
    return trace.levels[n].evidence.boundary[:, 1:][trace.levels[n - 1].evidence.boundary[:, 1:]]


CRITERIA = [(True, True), (True, False), (False, True), (False, False)]


class TestOracle:
    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    @pytest.mark.parametrize(("expected", "unexpected"), CRITERIA)
    def test_free_events(
        self,
        tiny_model: Factory,
        scenes: Factory,
        draw: Factory,
        levels: int,
        expected: bool,
        unexpected: bool,
    ) -> None:
        model = tiny_model(levels, seed=levels, expected=expected, unexpected=unexpected, window=5)
        video, noise = scenes(), draw(model)
        decide = subjective(expected, unexpected)
        records = consult(model, video, noise, lambda b: decide, window=5)
        assert_same_trace(model.observe(video, noise=noise), records)

    def test_events_vary(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        """The comparisons have both outcomes at each level, by each criterion."""
        models = [tiny_model(4, seed=seed, window=5) for seed in SEEDS]
        traces = [model.observe(scenes(seed=2), noise=draw(model)) for model in models]
        for n in (1, 2, 3):
            outcomes = torch.cat([upper(trace, n) for trace in traces])
            assert 0.1 < outcomes.double().mean() < 0.9
            seen = [trace.levels[n].evidence for trace in traces]
            assert any((e.expected & ~e.unexpected).any() for e in seen), n
            assert any((e.unexpected & ~e.expected).any() for e in seen), n

    @pytest.mark.parametrize("seed", SEEDS)
    def test_free_events_of_other_weights(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, seed: int
    ) -> None:
        model = tiny_model(4, seed=seed, window=5)
        video, noise = scenes(seed=2), draw(model)
        records = consult(model, video, noise, lambda b: subjective(), window=5)
        assert_same_trace(model.observe(video, noise=noise), records)

    @pytest.mark.parametrize("layers", [2, 3, 5])
    def test_other_depths(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, layers: int
    ) -> None:
        model = tiny_model(3, seed=3, window=5, layers=layers)
        block = model.blocks[1]
        for net in (block.f_enc.net, block.f_dec.net, block.compress, block.p.head.net):
            assert len(net.layers) == layers
        assert len(block.q.head.net.layers) == layers - 1  # after the one that adds x, d and c
        video, noise = scenes(seed=2), draw(model)
        records = consult(model, video, noise, lambda b: subjective(), window=5)
        assert_same_trace(model.observe(video, noise=noise), records)

    def test_cu_alone(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        model = tiny_model(3, seed=12, window=5, expected=False)
        video, noise = scenes(seed=2), draw(model)
        rule = subjective(expected=False)
        records = consult(model, video, noise, lambda b: rule, window=5)
        assert_same_trace(model.observe(video, noise=noise), records)

    def test_no_criterion_no_event(self, tiny_model: Factory, scenes: Factory) -> None:
        trace = tiny_model(3, expected=False, unexpected=False).observe(scenes())
        assert not trace.levels[1].evidence.boundary[:, 1:].any()
        assert trace.levels[1].evidence.boundary[:, 0].all()

    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    def test_forced_events(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, levels: int
    ) -> None:
        model = tiny_model(levels, seed=levels)
        table = random_table(BATCH, LENGTH, levels)
        model.rule = Table(table)
        video, noise = scenes(), draw(model)
        trace = model.observe(video, noise=noise)
        by_table = lambda b: fixed(lambda level, t: bool(table[b, t, level - 1]))  # noqa: E731
        assert_same_trace(trace, consult(model, video, noise, by_table, window=4))
        for n in range(1, levels):
            assert upper(trace, n).any()
            assert not upper(trace, n).all()

    @pytest.mark.parametrize("intervals", [(1,), (1, 4), (1, 2, 4), (1, 3, 4), (1, 2, 4, 8)])
    def test_clockwork(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, intervals: tuple[int, ...]
    ) -> None:
        model = tiny_model(len(intervals), rule="clockwork", intervals=intervals)
        video, noise = scenes(), draw(model)
        decide = fixed(lambda level, t: t % intervals[level - 1] == 0)
        records = consult(model, video, noise, lambda b: decide, window=1)
        assert_same_trace(model.observe(video, noise=noise), records)

    @pytest.mark.parametrize("levels", [1, 3])
    def test_always(self, tiny_model: Factory, scenes: Factory, draw: Factory, levels: int) -> None:
        model = tiny_model(levels, rule="always")
        video, noise = scenes(), draw(model)
        trace = model.observe(video, noise=noise)
        assert all(level.evidence.boundary.all() for level in trace.levels)
        always = fixed(lambda level, t: True)
        assert_same_trace(trace, consult(model, video, noise, lambda b: always, window=1))

    def test_single_precision(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        """To 1e-4: the KL of two beliefs that are nearly the same loses digits."""
        model = tiny_model(3, seed=3, loud=1.0, dtype=torch.float32)
        video, noise = scenes(dtype=torch.float32), draw(model)
        records = consult(model, video, noise, lambda b: subjective())
        assert_same_trace(model.observe(video, noise=noise), records, tolerance=1e-4)

    def test_means_without_noise(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(3, seed=3), scenes()
        trace = model.observe(video)
        assert_same_trace(trace, consult(model, video, None, lambda b: subjective()))
        assert all(torch.equal(level.s, level.q.mean) for level in trace.levels)

    def test_usual_fills_the_windows(self, tiny_model: Factory, scenes: Factory) -> None:
        """With a D_st known from training, the second frame can already be unexpected."""
        model, video = tiny_model(3, seed=3, expected=False, window=5), scenes()
        model.typical_kl.copy_(torch.tensor([0.05, 0.2]))
        trace = model.observe(video)
        only_cu = subjective(expected=False)
        typical_kl = model.typical_kl.tolist()
        records = consult(model, video, None, lambda b: only_cu, window=5, typical_kl=typical_kl)
        assert_same_trace(trace, records)
        assert trace.levels[1].evidence.unexpected[:, 1].any()

    @pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
    def test_gamma_and_vectors(self, tiny_model: Factory, scenes: Factory, gamma: float) -> None:
        model = tiny_model(3, frame=(5,), gamma=gamma, expected=False)
        video = scenes(frame=(5,))
        only_cu = subjective(expected=False, gamma=gamma)
        records = consult(model, video, None, lambda b: only_cu)
        assert_same_trace(model.observe(video), records)

    def test_paper_network(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(2, network="world-models"), scenes(length=6)
        records = consult(model, video, None, lambda b: subjective())
        assert_same_trace(model.observe(video), records)


class TestNetworks:
    """The oracle's own networks are those of the model, layer by layer."""

    @pytest.mark.parametrize("layers", [2, 4])
    def test_every_layer(self, tiny_model: Factory, layers: int) -> None:
        model = tiny_model(3, layers=layers)
        size, width = model.config.state_size, model.config.width
        generator = torch.Generator().manual_seed(0)
        x, d, c = torch.randn(3, width, generator=generator, dtype=torch.float64)
        s = torch.randn(size, generator=generator, dtype=torch.float64)
        for n, block in enumerate(model.levels()):
            oracle = Level(model, n)
            compressed = oracle.compress(x)
            pairs = [
                (block.f_enc(x), oracle.f_enc(x)),
                (block.f_dec(c, s), oracle.f_dec(c, s)),
                (block.compress(x), compressed),
                (block.f_tran(s, d), oracle.f_tran(s, d)),
                *zip(block.q(compressed, d, c), oracle.q(compressed, d, c), strict=True),
                *zip(block.p(d, c), oracle.p(d, c), strict=True),
            ]
            for found, wanted in pairs:
                torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
            assert oracle.w.unused() == set()

    def test_sizes_of_the_paper(self) -> None:
        """Four layers everywhere; posterior and prior give 2·|s| numbers."""
        with torch.device("meta"):
            model = VPR(preset("paper/moving-ball").model)
        for block in model.levels():
            for net in (block.f_enc.net, block.f_dec.net, block.compress, block.p.head.net):
                assert len(net.layers) == 4
            assert len(block.q.head.net.layers) == 3  # behind the layer that is split by inputs
            assert {layer.out_features for layer in block.f_enc.net.layers} == {200}
            assert {layer.out_features for layer in block.f_dec.net.layers} == {200}
            for head in (block.q.head, block.p.head):
                assert head.net.layers[-1].out_features == 40
            assert (block.f_tran.dense.out_features, block.f_tran.gru.hidden_size) == (20, 200)


class TestLoss:
    @pytest.mark.parametrize("levels", [1, 3])
    @pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
    def test_value_and_gradient(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, levels: int, beta: float
    ) -> None:
        """−ELBO of the oracle, and its derivative for every weight."""
        model = tiny_model(levels, seed=3)
        video, noise = scenes(length=8), draw(model, length=8)
        loss = model.loss(video, noise=noise, beta=beta)
        records = consult(model, video, noise, lambda b: subjective())
        wanted = negative_elbo(model, video, records, beta)
        assert_close(loss.total, wanted.detach(), 1e-9)
        pairs = zip(gradients(model, loss.total), gradients(model, wanted), strict=True)
        for found, true in pairs:
            torch.testing.assert_close(found, true, rtol=1e-7, atol=1e-9)

    def test_terms(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        model = tiny_model(3, seed=3)
        video, noise = scenes(), draw(model)
        loss = model.loss(video, noise=noise)
        records = consult(model, video, noise, lambda b: subjective())
        frames = [frame for record in records for frame in record.levels]
        for n in range(3):
            spent = sum(frame[n].kl.item() for frame in frames) / len(frames)
            assert loss.kl[n].item() == pytest.approx(spent)
            updates = sum(frame[n].boundary for frame in frames) / len(frames)
            assert loss.update_rate[n].item() == pytest.approx(updates)
        assert_close(loss.total, negative_elbo(model, video, records, 1.0).detach(), 1e-9)
        assert_close(-loss.elbo, loss.total.detach(), 1e-9)
        bare = negative_elbo(model, video, records, 0.0).detach()
        assert_close(loss.reconstruction, bare, 1e-9)
        halved = model.loss(video, noise=noise, beta=0.5)
        assert_close(halved.total, bare + 0.5 * loss.kl.sum().detach(), 1e-9)
        assert_close(halved.elbo, loss.elbo.detach(), 1e-12)

    def test_some_decoded_frames_estimate_the_reconstruction_of_all(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(2)
        video, noise = scenes(), draw(model)
        whole = model.loss(video, noise=noise)
        parts = [
            model.loss(video, noise=noise, decoded=frames)
            for frames in torch.arange(BATCH * LENGTH).chunk(LENGTH)
        ]
        assert len({part.reconstruction.item() for part in parts}) == LENGTH
        mean = torch.stack([part.reconstruction for part in parts]).mean()
        assert_close(mean.detach(), whole.reconstruction.detach(), 1e-9)
        assert all(torch.equal(part.kl, whole.kl) for part in parts)

    def test_squared_error(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(2, likelihood="gaussian"), scenes()
        trace, loss = model.observe(video), model.loss(video)
        decoded = model.codec.to_frames(model.codec.decode(trace.c0.flatten(0, 1)))
        error = ((decoded - video.flatten(0, 1)) ** 2).sum() / 2 / (BATCH * LENGTH)
        assert_close(loss.reconstruction, error.detach(), 1e-9)

    def test_every_weight_learns(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        model = tiny_model(3, rule="always")
        model.loss(scenes(), noise=draw(model)).total.backward()
        still = [k for k, w in model.named_parameters() if w.grad is None or not w.grad.any()]
        assert still == ["blocks.2.q.of_c.weight"]  # nothing is above the top: its c is 0

    def test_reconstruction_has_the_shape_of_the_video(
        self, tiny_model: Factory, scenes: Factory
    ) -> None:
        model, video = tiny_model(2), scenes()
        decoded = model.reconstruct(model.observe(video).c0)
        assert decoded.shape == video.shape
        assert (decoded >= 0).all()
        assert (decoded <= 1).all()


def gradients(model: VPR, loss: Tensor) -> list[Tensor]:
    weights = list(model.parameters())
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g for g, w in zip(found, weights, strict=True)]


class TestTwoWaysToTheSame:
    @pytest.mark.parametrize("grad", [True, False])
    @pytest.mark.parametrize("noisy", [True, False])
    def test_steps_are_observe(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, grad: bool, noisy: bool
    ) -> None:
        model = tiny_model(4, seed=4, window=5)
        video, noise = scenes(), draw(model) if noisy else None
        with torch.set_grad_enabled(grad):
            trace = model.observe(video, noise=noise)
            state, seen = model.initial(BATCH), []
            for t in range(LENGTH):
                eps = None if noise is None else noise[t]
                state, evidence = model.step(state, video[:, t], eps)
                seen.append((evidence, tuple(block.s for block in state.blocks)))
        assert_same_tree(state, trace.state)
        for t, (evidence, states) in enumerate(seen):
            for level, found, s in zip(trace.levels, evidence, states, strict=True):
                assert_same_tree(found, tree_map(lambda v, t=t: v[:, t], level.evidence))
                assert_same_tree(s, level.s[:, t])

    def test_steps_have_the_gradients_of_observe(
        self, tiny_model: Factory, scenes: Factory
    ) -> None:
        model, video = tiny_model(3, rule="always"), scenes(length=4)
        state = model.initial(BATCH)
        for t in range(4):
            state, _ = model.step(state, video[:, t])
        by_steps = gradients(model, sum(block.s.sum() for block in state.blocks))
        levels = model.observe(video).levels
        at_once = gradients(model, sum(level.s[:, -1].sum() for level in levels))
        for found, wanted in zip(by_steps, at_once, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)

    def test_with_and_without_gradients(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(4, seed=4, window=5)
        video, noise = scenes(), draw(model)
        with_gradients = model.observe(video, noise=noise)
        with torch.no_grad():
            without = model.observe(video, noise=noise)
        assert with_gradients.c0.requires_grad
        assert not without.c0.requires_grad
        assert_same_tree(as_tree(with_gradients), as_tree(without))

    @pytest.mark.parametrize("grad", [True, False])
    def test_a_batch_is_its_sequences(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, grad: bool
    ) -> None:
        model = tiny_model(3, seed=3, window=5)
        video, noise = scenes(), draw(model)
        with torch.set_grad_enabled(grad):
            together = model.observe(video, noise=noise)
            for b in range(BATCH):
                alone = model.observe(video[b : b + 1], noise=noise[:, :, b : b + 1])
                assert_same_tree(as_tree(alone), tree_rows(as_tree(together), [b]))

    @pytest.mark.parametrize("cut", [1, 5, LENGTH - 1])
    def test_a_video_in_two_parts(
        self, tiny_model: Factory, scenes: Factory, draw: Factory, cut: int
    ) -> None:
        model = tiny_model(3, seed=3, window=5)
        video, noise = scenes(), draw(model)
        whole = model.observe(video, noise=noise)
        start = model.observe(video[:, :cut], noise=noise[:cut])
        end = model.observe(video[:, cut:], start.state, noise[cut:])
        assert_same_tree(end.state, whole.state)
        c0, levels, _ = as_tree(whole)
        joined_c0, joined = joined_tree(start, end)
        assert_same_tree(joined_c0, c0)
        for found, wanted in zip(joined, levels, strict=True):
            assert_same_tree(found._replace(p=wanted.p), wanted)
        for found, wanted in zip(joined[:-1], levels[:-1], strict=True):
            assert_same_tree(found.p, wanted.p)

    def test_the_top_prior_survives_a_cut(self, tiny_model: Factory, scenes: Factory) -> None:
        """The prior in force at the top stays N(0, 1) until the second event, in both parts."""
        model = tiny_model(2, expected=False, unexpected=False)
        video = scenes(length=4)
        start = model.observe(video[:, :2])
        end = model.observe(video[:, 2:], start.state)
        whole = model.observe(video)
        assert_same_tree(joined_tree(start, end)[1][-1].p, whole.levels[-1].p)

    def test_loss_in_two_parts(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        model = tiny_model(3, seed=3)
        video, noise = scenes(), draw(model)
        whole = model.loss(video, noise=noise)
        start = model.loss(video[:, :4], noise=noise[:4])
        end = model.loss(video[:, 4:], start.trace.state, noise[4:])
        both = (4 * start.total + 8 * end.total) / LENGTH
        assert_close(both, whole.total.detach(), 1e-9)

    def test_sequences_of_different_age(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        """One sequence of a batch restarts, the others continue."""
        model = tiny_model(3, seed=3, window=5)
        video, noise = scenes(), draw(model)
        old = model.observe(video[:, :5], noise=noise[:5]).state
        mixed = tree_put(old, torch.tensor([1]), model.initial(1), BATCH)
        trace = model.observe(video[:, 5:], mixed, noise[5:])
        fresh = model.observe(video[1:2, 5:], noise=noise[5:, :, 1:2])
        going_on = model.observe(video[[0, 2], 5:], tree_rows(old, [0, 2]), noise[5:][:, :, [0, 2]])
        assert_same_tree(tree_rows(as_tree(trace), [1]), as_tree(fresh))
        assert_same_tree(tree_rows(as_tree(trace), [0, 2]), as_tree(going_on))


def as_tree(trace: Trace) -> tuple[Tensor, tuple[LevelTrace, ...], State]:
    """Tensors only: the path of each level is what was in force at each frame, without its index.

    Sequences can then be compared although other numbers of updates were in their batch.
    """
    levels = [
        level._replace(updates=tree_map(level.update_index.hold, level.updates), update_index=None)
        for level in trace.levels
    ]
    return trace.c0, tuple(levels), trace.state


def joined_tree(a: Trace, b: Trace) -> tuple[Tensor, tuple[LevelTrace, ...]]:
    """Both parts, one after the other in time."""
    return tree_map(lambda x, y: torch.cat([x, y], 1), as_tree(a)[:2], as_tree(b)[:2])


def tree_rows(tree: Any, rows: list[int]) -> Any:
    return tree_map(lambda v: v[rows], tree)


class Calls:
    """Counts the calls of every network of every level."""

    def __init__(self, model: VPR) -> None:
        self.count: dict[str, int] = {}
        for n, block in enumerate(model.blocks):
            for name, part in block.named_modules():
                part.register_forward_hook(self.counter(f"{n + 1}.{name}"))

    def counter(self, key: str) -> Callable[..., None]:
        self.count[key] = 0

        def hook(*_: Any) -> None:
            self.count[key] += 1

        return hook

    def of(self, level: int) -> int:
        return sum(v for k, v in self.count.items() if k.startswith(f"{level}."))


class TestRules:
    def test_a_blocked_level_computes_nothing(self, tiny_model: Factory, scenes: Factory) -> None:
        """Level 2 is evaluated and does not update: levels 3 and 4 are not evaluated."""
        model, video = tiny_model(4, expected=False, unexpected=False), scenes(length=3)
        with torch.no_grad():
            state, _ = model.step(model.initial(BATCH), video[:, 0])
            calls = Calls(model)
            model.step(state, video[:, 1])
        assert calls.of(1) > 0
        assert calls.count["2.q.head"] == 1
        assert calls.count["2.p"] == calls.count["2.f_tran"] == 0
        assert calls.of(3) == calls.of(4) == 0

    def test_a_new_state_is_empty(self, tiny_model: Factory) -> None:
        state = tiny_model(3, window=5).initial(2)
        assert state.time.tolist() == [0, 0]
        assert [window.pushed.tolist() for window in state.windows] == [[0, 0], [0, 0]]
        assert all(not block.d_next.any() for block in state.blocks)

    def test_remembers_what_was_usual(self, tiny_model: Factory, scenes: Factory) -> None:
        model = tiny_model(2, seed=3, window=5)
        windows = model.observe(scenes()).state.windows
        model.update_typical_kl(windows)
        assert_close(model.typical_kl, [windows[0].mean().mean().item()], 1e-12)
        assert_close(model.initial(2).windows[0].mean(), model.typical_kl.expand(2), 1e-12)

    def test_remembers_although_a_level_was_never_asked(self, tiny_model: Factory) -> None:
        """A sequence without any D_st does not affect `typical_kl`."""
        model = tiny_model(2, window=5)
        empty = Window.filled(2, 5, model.typical_kl[0])
        model.update_typical_kl((empty,))
        assert model.typical_kl.isnan().all()
        seen = torch.tensor([0])
        model.update_typical_kl((empty.push(torch.full((1,), 3.0, dtype=torch.float64), seen),))
        assert model.typical_kl.tolist() == [3.0]

    def test_observe_leaves_its_arguments_alone(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=3)
        video, noise = scenes(), draw(model)
        state = model.observe(video, noise=noise).state
        before = copy.deepcopy(tree_map(torch.Tensor.detach, (video, noise, state)))
        with torch.no_grad():
            model.observe(video, state, noise)
            model.step(state, video[:, 0])
        assert_same_tree(before, (video, noise, state), 0.0)

    def test_a_returned_state_stands_alone(self, tiny_model: Factory, scenes: Factory) -> None:
        """It has no gradients and does not hold the video in memory; training continues from it."""
        model, video = tiny_model(3, seed=3), scenes()
        loss = model.loss(video)
        loss.total.backward()

        def check(value: Tensor) -> Tensor:
            assert not value.requires_grad
            assert value.untyped_storage().nbytes() == value.nbytes
            return value

        state = loss.trace.state
        tree_map(check, state.blocks)
        model.loss(video, state).total.backward()

    def test_half_precision_runs(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(2, dtype=torch.float32), scenes().float()
        with torch.autocast("cpu", torch.bfloat16):
            loss = model.loss(video, noise=model.noise(*video.shape[:2])).total
        loss.backward()
        assert torch.isfinite(loss)

    def test_noise_is_seeded(self, tiny_model: Factory) -> None:
        model = tiny_model(2)
        a, b, c = (model.noise(3, 4, torch.Generator().manual_seed(k)) for k in (1, 1, 2))
        assert a.shape == (4, 2, 3, 3)
        assert torch.equal(a, b)
        assert not torch.equal(a, c)

    @few
    @given(seed=st.integers(0, 999), levels=st.integers(1, 4), gamma=st.floats(0.2, 3.0))
    def test_nesting_and_first_frame(
        self, tiny_model: Factory, scenes: Factory, seed: int, levels: int, gamma: float
    ) -> None:
        model = tiny_model(levels, seed=seed, gamma=gamma)
        trace = model.observe(scenes(seed=seed, length=8))
        boundaries = [level.evidence.boundary for level in trace.levels]
        assert boundaries[0].all()
        assert all(boundary[:, 0].all() for boundary in boundaries)
        for below, above in pairwise(boundaries):
            assert not (above & ~below).any()

    @few
    @given(seed=st.integers(0, 999), levels=st.integers(2, 4), forced=st.booleans())
    def test_evidence_only_where_the_signal_arrives(
        self, tiny_model: Factory, scenes: Factory, seed: int, levels: int, forced: bool
    ) -> None:
        model = tiny_model(levels, seed=seed)
        if forced:
            model.rule = Table(random_table(BATCH, 8, levels, seed))
        trace = model.observe(scenes(seed=seed, length=8))
        for below, level in pairwise(trace.levels):
            arrives = below.evidence.boundary.clone()
            arrives[:, 0] = False
            assert torch.equal(level.evidence.kl_static.isfinite(), arrives)
            assert torch.equal(level.evidence.kl_change.isfinite(), arrives)
            assert not (level.evidence.expected & ~arrives).any()
            assert not (level.evidence.unexpected & ~arrives).any()
            assert not level.kl[~level.evidence.boundary].any()

    @few
    @given(seed=st.integers(0, 999), levels=st.integers(2, 4), grad=st.booleans())
    def test_a_blocked_level_is_untouched(
        self, tiny_model: Factory, scenes: Factory, seed: int, levels: int, grad: bool
    ) -> None:
        """Bit for bit, for each sequence; and where the level updates, it does change."""
        model = tiny_model(levels, seed=seed)
        video = scenes(seed=seed, length=8)
        with torch.set_grad_enabled(grad):
            state = model.initial(BATCH)
            for t in range(8):
                old, (state, evidence) = state, model.step(state, video[:, t])
                for n, seen in enumerate(evidence):
                    assert_untouched(old, state, n, ~seen.boundary)
                    moved = (old.blocks[n].s != state.blocks[n].s).any(-1)
                    assert moved[seen.boundary].all()


def assert_untouched(old: State, new: State, n: int, blocked: Tensor) -> None:
    def check(a: Tensor, b: Tensor) -> Tensor:
        assert torch.equal(a[blocked], b[blocked])
        return a

    tree_map(check, old.blocks[n], new.blocks[n])


class TestBadInput:
    def test_nan_and_range(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(2), scenes()
        for call in (model.observe, model.loss):
            with pytest.raises(VPRError, match="NaN"):
                call(video * torch.nan)
            with pytest.raises(VPRError, match="divide 8-bit by 255"):
                call(video * 255)

    def test_state_and_noise_of_another_shape(self, tiny_model: Factory, scenes: Factory) -> None:
        model, video = tiny_model(2), scenes()
        with pytest.raises(VPRError, match="the state is of 7 sequences"):
            model.observe(video, model.initial(7))
        with pytest.raises(VPRError, match="noise must have shape"):
            model.observe(video, noise=model.noise(1, video.shape[1]))

    def test_one_frame_is_enough_to_observe(self, tiny_model: Factory, scenes: Factory) -> None:
        """A sequence of length 1 has a state and no events."""
        trace = tiny_model(3).observe(scenes(length=1))
        assert all(level.evidence.boundary.all() for level in trace.levels)
        assert all(level.evidence.kl_static.isnan().all() for level in trace.levels)
