"""The terms beside the ELBO against loops over frames and events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from tests.oracle import Gauss, gaussian_kl
from vpr.block import BlockState
from vpr.errors import VPRError
from vpr.events import Evidence, RandomUpdates, Subjective
from vpr.model import VPR
from vpr.training.objectives import (
    OBJECTIVES,
    Objective,
    bottleneck,
    objective,
    overshooting,
    persistence,
)

Factory = Callable[..., Any]
BATCH, LENGTH = 3, 12


class Moment(NamedTuple):
    """One level of one sequence at one frame."""

    level: int  # from 0
    sequence: int
    evidence: Evidence
    before: BlockState
    after: BlockState
    x: Tensor  # (B, H)


def moments(model: VPR, video: Tensor, noise: Tensor | None) -> Iterator[Moment]:
    """Frame after frame with `VPR.step`, levels 2 to N."""
    state, read = model.initial(len(video)), model.encodings(video)
    for t, frame in enumerate(video.unbind(1)):
        before = state
        state, evidence = model.step(state, frame, None if noise is None else noise[t])
        for n in range(1, model.config.levels):
            old, new, x = before.blocks[n], state.blocks[n], read[n][:, t]
            for b in range(len(video)):
                yield Moment(n, b, evidence[n], old, new, x)


def row(belief: Any, *index: int) -> Gauss:
    return Gauss(belief.mean[index], belief.std[index])


@torch.no_grad()
def literal_persistence(model: VPR, video: Tensor, noise: Tensor | None) -> list[float]:
    """ln(1 + D_KL(q_st ‖ p_st)) where a level was evaluated and neither criterion held."""
    total = [0.0] * model.config.levels
    for n, b, evidence, before, _, x in moments(model, video, noise):
        asked = not evidence.kl_static[b].isnan()
        if asked and not evidence.expected[b] and not evidence.unexpected[b]:
            q, p = model.levels()[n].hypotheses(before, x)
            static = gaussian_kl(row(q, b, 0), row(p, b, 0))
            total[n] += (1 + static).log().item()
    return [each / (video.shape[0] * video.shape[1]) for each in total]


@torch.no_grad()
def literal_overshooting(model: VPR, video: Tensor, noise: Tensor | None) -> list[float]:
    """ln(1 + D_KL(q_τ ‖ p̃_τ)) of each event τ, the mean of the predictions from all events before.

    Each prediction begins with the d of 64 predicted events after the end of the sequence.
    """
    events: dict[tuple[int, int], list[tuple[Tensor, Tensor, Tensor, Gauss]]] = {}
    for n, b, evidence, _, after, _ in moments(model, video, noise):
        if evidence.boundary[b]:
            event = after.d[b], after.c[b], after.s[b], row(after.q, b)
            events.setdefault((n, b), []).append(event)
    total = [0.0] * model.config.levels
    for (n, _), own in events.items():
        block, start = model.levels()[n], far_ahead(model, n, own)
        for k in range(len(own) - 1):
            s, d = own[k][2], start
            for tau in range(k + 1, len(own)):
                _, c, _, q = own[tau]
                d = block.f_tran(s, d)
                p = block.p(d, c)
                total[n] += (1 + gaussian_kl(q, p)).log().item() / tau
                s = p.mean
    return [each / (video.shape[0] * video.shape[1]) for each in total]


def far_ahead(model: VPR, n: int, events: list[tuple[Tensor, Tensor, Tensor, Gauss]]) -> Tensor:
    """d 64 predicted events after the last of these."""
    block = model.levels()[n]
    d, c, s, _ = events[-1]
    for _ in range(64):
        d = block.f_tran(s, d)
        s = block.p(d, c).mean
    return d


Literal = Callable[[VPR, Tensor, Tensor | None], list[float]]
BOTH = [(persistence, literal_persistence), (overshooting, literal_overshooting)]


@pytest.mark.parametrize(("term", "literal"), BOTH)
class TestEqualsTheLoop:
    @pytest.mark.parametrize("levels", [1, 2, 3, 4])
    @pytest.mark.parametrize("noisy", [True, False])
    def test_of_all_levels(
        self,
        tiny_model: Factory,
        scenes: Factory,
        draw: Factory,
        term: Objective,
        literal: Literal,
        levels: int,
        noisy: bool,
    ) -> None:
        model = tiny_model(levels, seed=12, window=5)
        video, noise = scenes(seed=2), draw(model) if noisy else None
        found = term(model, model.observe(video, noise=noise))
        assert found.shape == (levels,)
        assert found[0] == 0
        assert found.tolist() == pytest.approx(literal(model, video, noise), rel=1e-9)
        assert levels == 1 or found[1] > 0.01

    @pytest.mark.parametrize("intervals", [(1, 2, 4), (1, 3, 12), (1, 1, 1)])
    def test_of_fixed_clocks(
        self,
        tiny_model: Factory,
        scenes: Factory,
        draw: Factory,
        term: Objective,
        literal: Literal,
        intervals: tuple[int, ...],
    ) -> None:
        model = tiny_model(3, seed=3, rule="clockwork", intervals=intervals)
        video, noise = scenes(), draw(model)
        found = term(model, model.observe(video, noise=noise))
        assert found.tolist() == pytest.approx(literal(model, video, noise), rel=1e-9)

    def test_of_sequences_with_different_numbers_of_events(
        self, tiny_model: Factory, scenes: Factory, term: Objective, literal: Literal
    ) -> None:
        """What fills up the shorter paths adds nothing."""
        model, video = tiny_model(3, seed=12, window=5), scenes(batch=6, seed=2)
        trace = model.observe(video)
        assert len(set(trace.levels[1].evidence.boundary.sum(1).tolist())) > 1
        found = term(model, trace).tolist()
        assert found == pytest.approx(literal(model, video, None), rel=1e-9)


def learned(model: VPR, total: Tensor) -> set[str]:
    """The weights with a gradient other than 0, which is finite."""
    model.zero_grad()
    total.backward()
    slopes = {name: weight.grad for name, weight in model.named_parameters()}
    assert all(slope is None or slope.isfinite().all() for slope in slopes.values())
    return {name for name, slope in slopes.items() if slope is not None and slope.any()}


def observed(model: VPR, scenes: Factory, draw: Factory) -> Any:
    return model.observe(scenes(seed=2), noise=draw(model))


class TestPersistence:
    def test_trains_the_posterior_of_the_levels_above_the_first(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=12, window=5)
        names = learned(model, persistence(model, observed(model, scenes, draw)).sum())
        for n in (1, 2):
            weights = {f"blocks.{n}.q.{name}" for name, _ in model.blocks[n].q.named_parameters()}
            top = {"blocks.2.q.of_c.weight"}  # nothing is above the top: its c is 0
            assert weights - names <= top
        assert not any(name.startswith("blocks.0.q.") for name in names)

    def test_trains_no_decoder_and_no_prior(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=12, window=5)
        names = learned(model, persistence(model, observed(model, scenes, draw)).sum())
        assert not any(".p." in name or name.startswith("codec.paint") for name in names)

    def test_counts_random_updates_too(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        """The same frames count, whether or not the level updates there."""
        model = tiny_model(3, seed=12)
        nothing = Subjective(expected=False, unexpected=False)
        model.rule = RandomUpdates(nothing, 1.0, torch.Generator().manual_seed(0))
        assert all(persistence(model, observed(model, scenes, draw))[1:] > 0)

    def test_is_0_where_every_frame_is_an_event(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=12)
        model.rule = Subjective(expected=False, gamma=1e-9)
        model.typical_kl.fill_(1.0)  # a window that is empty detects nothing
        term = persistence(model, observed(model, scenes, draw))
        assert term.tolist() == [0, 0, 0]
        assert not learned(model, term.sum())

    def test_levels_that_are_not_asked_have_none(
        self, tiny_model: Factory, scenes: Factory
    ) -> None:
        """Level 2 never updates after the first frame, so the signal stops below level 3."""
        model = tiny_model(3, seed=12)
        model.rule = Subjective(expected=False, unexpected=False)
        two, three = persistence(model, model.observe(scenes(seed=2)))[1:].tolist()
        assert two > 0
        assert three == 0


class TestOvershooting:
    def test_trains_only_the_transition_and_the_prior(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=12, window=5)
        names = learned(model, overshooting(model, observed(model, scenes, draw)).sum())
        parts = {".".join(name.split(".")[:3]) for name in names}
        assert parts == {f"blocks.{n}.{part}" for n in (1, 2) for part in ("f_tran", "p")}

    def test_is_0_where_a_level_has_one_event(
        self, tiny_model: Factory, scenes: Factory, draw: Factory
    ) -> None:
        model = tiny_model(3, seed=12, rule="clockwork", intervals=(1, 4, 99))
        _, two, three = overshooting(model, observed(model, scenes, draw)).tolist()
        assert two > 0
        assert three == 0


class TestBottleneck:
    def test_equals_the_loop(self, tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
        """0.5 · D_KL(q ‖ N(0, 1)) at each update of levels 1 to N − 1, per frame."""
        model = tiny_model(3, seed=12, window=5)
        video, noise = scenes(seed=2), draw(model)
        state, total = model.initial(len(video)), [0.0, 0.0, 0.0]
        for t, frame in enumerate(video.unbind(1)):
            state, evidence = model.step(state, frame, noise[t])
            for n in range(2):
                for b in range(len(video)):
                    q = row(state.blocks[n].q, b)
                    standard = Gauss(torch.zeros_like(q.mean), torch.ones_like(q.std))
                    if evidence[n].boundary[b]:
                        total[n] += 0.5 * gaussian_kl(q, standard).item()
        found = bottleneck(model, model.observe(video, noise=noise)).tolist()
        assert found == pytest.approx([each / video[:, :, 0, 0, 0].numel() for each in total])

    def test_is_0_for_a_single_level(self, tiny_model: Factory, scenes: Factory) -> None:
        model = tiny_model(1, seed=12)
        assert bottleneck(model, model.observe(scenes(seed=2))).tolist() == [0.0]


class TestNames:
    def test_each_is_found_by_its_name(self) -> None:
        assert OBJECTIVES.keys() == {"persistence", "overshooting", "bottleneck"}
        assert all(objective(name) is each for name, each in OBJECTIVES.items())

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(VPRError, match=r"no objective 'rehearsal': choose from persistence"):
            objective("rehearsal")
