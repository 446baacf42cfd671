"""Updates that are read as if nothing had changed, which teaches q_st."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from vpr.events import Always
from vpr.model import VPR
from vpr.networks import activate
from vpr.schedule import Weights
from vpr.stale import Stale
from vpr.tree import tree_leaves

Factory = Callable[..., Any]
ALL = Weights(1.0, (1.0, 1.0, 1.0))


def inputs(block: Any, rows: int = 4, steps: int = 5) -> tuple[torch.Tensor, ...]:
    """d before the first update, x, c and noise of all, and the d of the update before."""
    made = torch.Generator().manual_seed(5)
    shapes = [(block.width,)] + [(steps, block.width)] * 2 + [(steps, block.state_size)]
    shapes.append((block.width,))
    return tuple(torch.randn(rows, *each, generator=made).double() for each in shapes)


def test_only_the_posterior_is_given_the_old_context(tiny_model: Factory) -> None:
    """One sequence after the other, one update after the other."""
    block = tiny_model(2, seed=3).blocks[1]
    d, x, c, noise, old = inputs(block)
    when = torch.rand(4, 5, generator=torch.Generator().manual_seed(6)) < 0.5
    path, d_next = block.follow(d, x, c, noise, Stale(when, old))
    assert when.any()
    assert not when.all()
    for b in range(4):
        now, before = d[b : b + 1], old[b : b + 1]
        for k in range(5):
            given = before if when[b, k] else now
            first = x[b : b + 1, k] + block.q.of_c(c[b : b + 1, k]) + block.q.of_d(given)
            q = block.q.head(activate(first))
            s = q.mean + q.std * noise[b : b + 1, k]
            torch.testing.assert_close(path.d[b, k], now[0])
            torch.testing.assert_close(path.q.mean[b, k], q.mean[0])
            torch.testing.assert_close(path.s[b, k], s[0])
            before, now = now, block.f_tran(s, now)
        torch.testing.assert_close(d_next[b], now[0])


def test_decisions_are_as_without(tiny_model: Factory, scenes: Factory, draw: Factory) -> None:
    model = tiny_model(3, seed=3)
    video, noise = scenes(), draw(model)
    plain = model.loss(video, noise=noise, weights=ALL)
    stale = model.loss(video, noise=noise, weights=ALL._replace(stale=0.5))
    assert torch.equal(stale.update_rate, plain.update_rate)
    assert not torch.equal(stale.kl[1:], plain.kl[1:])
    above = (loss.state.blocks[1:] for loss in (plain, stale))
    pairs = zip(*(tree_leaves(each) for each in above), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_nobody_but_a_loss_with_noise_does_so(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(3, seed=3), scenes()
    plain, stale = (
        model.loss(video, weights=ALL._replace(stale=share)).total for share in (0.0, 0.9)
    )
    assert torch.equal(plain, stale)


def spied(model: VPR, monkeypatch: pytest.MonkeyPatch) -> list[Stale | None]:
    """What each level is told to read as if nothing had changed, the top level first."""
    seen: list[Stale | None] = []

    def spy(follow: Callable[..., Any]) -> Callable[..., Any]:
        def told(*words: Any) -> Any:
            seen.append(words[-1])
            return follow(*words)

        return told

    for block in model.blocks:
        monkeypatch.setattr(block, "follow", spy(block.follow))
    return seen


def test_a_share_of_all_updates(tiny_model: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level above the first reads that share; level 1 compares nothing."""
    model = tiny_model(3, seed=3)
    model.rule = Always()
    made = torch.Generator().manual_seed(3)
    frames = torch.rand(40, 25, *model.config.frame, dtype=model.usual.dtype, generator=made)
    seen = spied(model, monkeypatch)
    model.loss(frames, noise=model.noise(40, 25, made), weights=ALL._replace(stale=0.2))
    top, middle, level_one = seen
    assert level_one is None
    for each in (top, middle):
        assert each is not None
        assert each.when.shape == (40, 25)
        assert abs(each.when.double().mean() - 0.2) < 0.04


def test_which_updates_and_what_was_before(
    tiny_model: Factory, scenes: Factory, draw: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a part that goes on from another, where levels update now and then."""
    model = tiny_model(3, seed=3)
    video, noise = scenes(), draw(model)
    state = model.observe(video).state
    boundaries = [level.evidence.boundary for level in model.observe(video, state, noise).levels]
    chosen = (noise[:, 0, :, -1] > 0).t()  # a half
    seen = spied(model, monkeypatch)
    model.loss(video, state, noise, ALL._replace(stale=0.5))
    for n, told in ((2, seen[0]), (1, seen[1])):
        assert told is not None
        assert told.before.any()
        assert torch.equal(told.before, state.blocks[n].d)
        assert not boundaries[n].all()
        for row, when, boundary in zip(chosen, told.when, boundaries[n], strict=True):
            assert torch.equal(when[: boundary.sum()], row[boundary])
