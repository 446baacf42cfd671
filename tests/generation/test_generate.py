"""Rollouts and samples, against a literal version; other levels must not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from vpr import VPR, VPRError, rollout, sample
from vpr.beliefs import Belief
from vpr.data import evaluation_rng
from vpr.data.discs import COLOURS
from vpr.generation.generate import Below
from vpr.pretrained import data_for
from vpr.state import State
from vpr.utils.tree import tree_map

Factory = Callable[..., Any]
BATCH, STEPS = 3, 4
BELOW: tuple[Below, ...] = ("held", "means", "samples")
CASES = [(samples, below) for samples in (False, True) for below in BELOW]


class Watched(NamedTuple):
    """A model of three levels that has seen a few frames, with other events in each sequence."""

    model: VPR
    state: State


@pytest.fixture(scope="module")
def watched(tiny_model: Factory, scenes: Factory) -> Watched:
    model = tiny_model(3, seed=4)
    with torch.no_grad():
        return Watched(model, model.observe(scenes(BATCH, 9)).state)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def take(p: Belief, noise: Tensor | None) -> Tensor:
    return p.mean if noise is None else p.mean + p.std * noise


@torch.no_grad()
def literal_rollout(
    model: VPR, state: State, level: int, noise: list[Tensor], samples: bool, below: Below
) -> list[list[tuple[Tensor, Belief, Tensor]]]:
    """s, p and the frame of each jump, for each video by itself; noise[k] (N, B, S)."""
    blocks, n = list(model.blocks), level - 1
    videos = []
    for b in range(len(state.time)):
        s, d, c = (getattr(state.blocks[n], name)[b : b + 1] for name in ("s", "d", "c"))
        jumps = []
        for eps in noise:
            d = blocks[n].f_tran(s, d)
            p = blocks[n].p(d, c)
            s = take(p, eps[n, b : b + 1] if samples else None)
            below_c = blocks[n].f_dec(c, s)
            for m in range(n - 1, -1, -1):
                held = state.blocks[m].s[b : b + 1]
                if below != "held":
                    p_m = blocks[m].p(torch.zeros_like(below_c), below_c)
                    held = take(p_m, eps[m, b : b + 1] if below == "samples" else None)
                below_c = blocks[m].f_dec(below_c, held)
            jumps.append((s[0], Belief(p.mean[0], p.std[0]), model.reconstruct(below_c)[0]))
        videos.append(jumps)
    return videos


def assert_same(a: Any, b: Any) -> None:
    def check(x: Tensor, y: Tensor) -> Tensor:
        assert torch.equal(x, y)
        return x

    tree_map(check, a, b)


def at(k: int, tree: Any) -> Any:
    """The k-th jump alone, (B, 1, …)."""
    return tree_map(lambda values: values[:, k : k + 1], tree)


def copied(state: State) -> State:
    return tree_map(torch.clone, state)


class TestRollout:
    @pytest.mark.parametrize(("samples", "below"), CASES)
    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_equals_the_literal_version(
        self, watched: Watched, level: int, samples: bool, below: Below
    ) -> None:
        model, state = watched
        draws = seeded(1)
        noise = [model.noise(BATCH, 1, draws)[0] for _ in range(STEPS)]
        wanted = literal_rollout(model, state, level, noise, samples, below)
        found = rollout(
            model, state, level, STEPS, samples=samples, generator=seeded(1), below=below
        )
        for b in range(BATCH):
            for k, (s, p, frame) in enumerate(wanted[b]):
                torch.testing.assert_close(found.states[b, k], s)
                torch.testing.assert_close(found.beliefs.mean[b, k], p.mean)
                torch.testing.assert_close(found.beliefs.std[b, k], p.std)
                torch.testing.assert_close(found.frames[b, k], frame)

    @pytest.mark.parametrize(("samples", "below"), CASES)
    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_k_steps_are_k_times_one(
        self, watched: Watched, level: int, samples: bool, below: Below
    ) -> None:
        model, state = watched
        how: dict[str, Any] = {"samples": samples, "below": below}
        whole = rollout(model, state, level, STEPS, generator=seeded(2), **how)
        draws = seeded(2)
        for k in range(STEPS):
            one = rollout(model, state, level, 1, generator=draws, **how)
            state = one.state
            assert_same((one.beliefs, one.states), at(k, (whole.beliefs, whole.states)))
            torch.testing.assert_close(one.frames[:, 0], whole.frames[:, k])
        assert_same(state, whole.state)

    @pytest.mark.parametrize("below", BELOW)
    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_all_other_levels_keep_their_states_bit_for_bit(
        self, watched: Watched, level: int, below: Below
    ) -> None:
        model, state = watched
        before = copied(state)
        after = rollout(model, state, level, STEPS, samples=True, below=below).state
        assert_same(state, before)
        for n, (old, new) in enumerate(zip(before.blocks, after.blocks, strict=True), start=1):
            if n == level:
                assert not torch.equal(old.s, new.s)
                assert torch.equal(old.c, new.c)
            elif (n, level) == (1, 2):  # level 1 gets the c of where level 2 is now
                assert_same(old, new._replace(c=old.c))
                above = after.blocks[1]
                c = model.blocks[1].f_dec(above.c, above.s)
                torch.testing.assert_close(new.c, c)
            else:
                assert_same(old, new)
        assert_same((before.windows, before.time), (after.windows, after.time))

    @pytest.mark.parametrize("way", ["means", "samples"])
    def test_lower_levels_without_a_past(self, watched: Watched, way: Below) -> None:
        """The states of the levels below have an effect only if they are held."""
        model, state = watched
        other = tree_map(lambda v: v + 1, state.blocks[:2])
        changed = state._replace(blocks=(*other, state.blocks[2]))

        def frames(state: State, below: Below) -> Tensor:
            return rollout(model, state, 3, STEPS, generator=seeded(), below=below).frames

        assert torch.equal(frames(state, way), frames(changed, way))
        assert not torch.equal(frames(state, "held"), frames(changed, "held"))

    def test_samples_below_do_not_change_the_rollout(self, watched: Watched) -> None:
        """The paper draws the states below the target level; the level itself goes by its means."""
        model, state = watched
        held, drawn = (rollout(model, state, 3, STEPS, below=each) for each in ("held", "samples"))
        assert torch.equal(held.states, drawn.states)
        assert not torch.equal(held.frames, drawn.frames)

    def test_samples_vary_and_are_reproducible(self, watched: Watched) -> None:
        model, state = watched
        runs = [
            rollout(model, state, 2, STEPS, samples=True, generator=seeded(seed)).states
            for seed in (0, 0, 1)
        ]
        assert torch.equal(runs[0], runs[1])
        assert not torch.equal(runs[0], runs[2])

    def test_the_top_level_begins_with_the_standard_normal(self, watched: Watched) -> None:
        """Before the first frame: p(s^N_1) = N(0, 1), then the prior network."""
        model, nothing = watched.model, watched.model.initial(2)
        jumps = rollout(model, nothing, 3, 2, samples=True, below="means")
        assert_same(Belief(*(v[:, 0] for v in jumps.beliefs)), Belief.standard(jumps.states[:, 0]))
        assert not torch.equal(jumps.beliefs.mean[:, 1], torch.zeros_like(jumps.states[:, 1]))

    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_observing_continues_after_a_rollout(
        self, watched: Watched, scenes: Factory, level: int
    ) -> None:
        """Frame by frame as at once; the level compares with what it had predicted."""
        model, _ = watched
        jumps = rollout(model, watched.state, level, STEPS)
        video = scenes(BATCH, 5, seed=8)
        state = jumps.state
        for t in range(5):
            state, _ = model.step(state, video[:, t])
        torch.testing.assert_close(state, model.observe(video, jumps.state).state)
        model.loss(video, jumps.state).total.backward()
        model.zero_grad()

    @pytest.mark.parametrize("level", [2, 3])
    def test_what_the_next_comparison_needs(
        self, watched: Watched, scenes: Factory, level: int
    ) -> None:
        model, block = watched.model, watched.model.blocks[level - 1]
        jumps = rollout(model, watched.state, level, STEPS, samples=True)
        now = jumps.state.blocks[level - 1]
        x = torch.randn(BATCH, model.config.width, dtype=torch.float64)
        q, p = block.hypotheses(now, block.project(x))
        small = block.compress(x)
        wanted = block.q(small, now.d, now.c), block.q(small, now.d_next, now.c)
        for k, belief in enumerate(wanted):
            torch.testing.assert_close(Belief(*(v[:, k] for v in q)), belief)
        last = Belief(*(v[:, -1] for v in jumps.beliefs))
        assert_same(Belief(*(v[:, 0] for v in p)), last)
        torch.testing.assert_close(Belief(*(v[:, 1] for v in p)), block.p(now.d_next, now.c))
        torch.testing.assert_close(now.d_next, block.f_tran(now.s, now.d))

    def test_plain_vectors(self, tiny_model: Factory) -> None:
        model = tiny_model(2, frame=(5,), likelihood="gaussian")
        assert rollout(model, model.initial(2), 2, 3).frames.shape == (2, 3, 5)
        assert sample(model, model.initial(2), 1, 4).frames.shape == (2, 4, 5)

    def test_errors_are_one_line(self, watched: Watched, tiny_model: Factory) -> None:
        model, state = watched
        for call in (rollout, sample):
            for level in (0, 4, -1):
                with pytest.raises(VPRError, match=rf"^level must be 1 to 3, got {level}$"):
                    call(model, state, level, 2)
            with pytest.raises(VPRError, match=r"^the state has 2 levels, not 3$"):
                call(model, tiny_model(2).initial(1), 1, 2)
            with pytest.raises(VPRError, match=r"^the state belongs to another model: .* width 20"):
                call(model, tiny_model(3, width=20).initial(1), 1, 2)
        with pytest.raises(VPRError, match=r"^steps must be 1 or more, got 0$"):
            rollout(model, state, 1, 0)
        with pytest.raises(
            VPRError, match=r"^below must be one of held, means, samples, got 'no'$"
        ):
            rollout(model, state, 1, 2, below="no")  # type: ignore[arg-type]
        with pytest.raises(VPRError, match=r"^n must be 1 or more, got 0$"):
            sample(model, state, 1, 0)


class TestSample:
    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_only_its_level_varies(self, watched: Watched, level: int) -> None:
        """Each picture is a draw under the level's own c, decoded with all other s as they are."""
        model, state = watched
        before = copied(state)
        draws = sample(model, state, level, 5, seeded(3))
        assert_same(state, before)
        for k in range(5):
            c, s = state.blocks[level - 1].c, draws.states[:, k]
            for n in range(level - 1, -1, -1):
                c = model.blocks[n].f_dec(c, s)
                s = state.blocks[n - 1].s
            torch.testing.assert_close(draws.frames[:, k], model.reconstruct(c))

    @pytest.mark.parametrize("level", [1, 2])
    def test_samples_do_not_depend_on_the_past(self, watched: Watched, level: int) -> None:
        model, state = watched
        now, block = state.blocks[level - 1], model.blocks[level - 1]
        draws = sample(model, state, level, 5, seeded(3))
        torch.testing.assert_close(draws.belief, block.p(torch.zeros_like(now.d), now.c))
        eps = model.noise(BATCH, 5, seeded(3))[:, level - 1].transpose(0, 1)
        wanted = draws.belief.mean[:, None] + draws.belief.std[:, None] * eps
        torch.testing.assert_close(draws.states, wanted)

    def test_draws_at_the_top_are_standard_normal(self, watched: Watched) -> None:
        draws = sample(*watched, 3, 5)
        assert_same(draws.belief, Belief.standard(draws.belief.mean))

    @pytest.mark.parametrize("level", [1, 2, 3])
    def test_samples_with_a_past_are_from_the_prediction(
        self, watched: Watched, scenes: Factory, level: int
    ) -> None:
        model, _ = watched
        with torch.no_grad():
            trace = model.observe(scenes(BATCH, 9))
        draws = sample(model, trace.state, level, 5, empty=False)
        wanted = Belief(*(v[:, -1] for v in trace.levels[level - 1].p))
        torch.testing.assert_close(draws.belief, wanted)


class Ball(NamedTuple):
    """The shipped model after 12 frames of four balls, and the colours that they have by then."""

    model: VPR
    state: State
    colour: Tensor  # (4,) places on the circle of colours


@pytest.fixture(scope="module")
def ball() -> Ball:
    model = VPR.from_pretrained("moving-ball")
    batch = data_for("moving-ball").batch(4, 12, evaluation_rng(2))
    with torch.no_grad():
        state = model.observe(torch.from_numpy(batch.frames)).state
    return Ball(model, state, torch.from_numpy(batch.factors["colour"][:, -1]))


def colours(frames: Tensor) -> Tensor:
    """The nearest place on the circle of colours (B, K), of the ball's brightest values."""
    seen = frames.flatten(3).amax(-1)  # (B, K, 3); the background is black
    return torch.cdist(seen, torch.from_numpy(COLOURS).to(seen)).argmin(-1)


def places(frames: Tensor) -> Tensor:
    """The ball's centre (B, K, 2), row and column: the mean over its light."""
    light, pixels = frames.amax(2), torch.arange(64.0)
    centre = torch.stack([(light.sum(axis) * pixels).sum(-1) for axis in (-1, -2)], -1)
    return centre / light.sum((-1, -2)).unsqueeze(-1)


class TestMovingBall:
    """What the shipped model has learned, and what the docs say of it."""

    def test_level_2_jumps_through_the_colours_at_one_place(self, ball: Ball) -> None:
        model, state, colour = ball
        frames = rollout(model, state, 2, 24).frames
        wanted = (colour[:, None] + torch.arange(1, 25)) % len(COLOURS)
        assert torch.equal(colours(frames), wanted)
        assert places(frames).std(1).max() < 1

    @pytest.mark.parametrize("samples", [False, True])
    def test_k_steps_are_k_times_one_bit_for_bit(self, ball: Ball, samples: bool) -> None:
        """In single precision and with weights of realistic size."""
        draws, state = [seeded(), seeded()], ball.state
        whole = rollout(ball.model, state, 2, 7, samples=samples, generator=draws[0])
        for k in range(7):
            one = rollout(ball.model, state, 2, 1, samples=samples, generator=draws[1])
            assert torch.equal(one.states[:, 0], whole.states[:, k])
            state = one.state
        assert_same(state, whole.state)

    def test_level_1_moves_the_ball_and_keeps_its_colour(self, ball: Ball) -> None:
        model, state, colour = ball
        frames = rollout(model, state, 1, 8).frames
        assert torch.equal(colours(frames), colour[:, None].expand(-1, 8))
        assert places(frames).diff(dim=1).norm(dim=-1).median() == pytest.approx(6, abs=1)

    def test_without_a_past_below_only_draws_show_a_ball(self, ball: Ball) -> None:
        model, state, colour = ball
        means = rollout(model, state, 2, 24, below="means").frames
        assert means.max() < 0.5
        drawn = rollout(model, state, 2, 24, generator=seeded(), below="samples").frames
        shown = (drawn.amax(2) > 0.5).flatten(2).sum(-1) > 35  # pixels; a ball has 113
        assert 0.15 < shown.float().mean() < 0.7
        wanted = (colour[:, None] + torch.arange(1, 25)) % len(COLOURS)
        assert (colours(drawn) == wanted)[shown].float().mean() > 0.9
        assert places(drawn)[shown].std(0).min() > 5

    def test_samples_of_level_2_are_diverse_without_a_past_and_alike_with_it(
        self, ball: Ball
    ) -> None:
        model, state, _ = ball
        # A ball has a radius of 6 pixels; its place in a video varies by 17. Samples without a
        # past come from N(0, 1), which is not the distribution of the states, and move it too.
        for empty, least, most, pixels in ((True, 4, 6, 8), (False, 1, 2, 2)):
            frames = sample(model, state, 2, 32, seeded(), empty=empty).frames
            kinds = [len(set(row.tolist())) for row in colours(frames)]
            assert all(least <= kind <= most for kind in kinds), (empty, kinds)
            assert places(frames).std(1).max() < pixels
