"""A level finds itself in a picture, whatever the levels below it hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from vpr.beliefs import Belief, kl
from vpr.model import VPR
from vpr.recognition import recognition
from vpr.schedule import Weights

Factory = Callable[..., Any]
ALL = Weights(1.0, (1.0, 1.0, 1.0))


def asked(model: VPR, video: Tensor, noise: Tensor | None) -> Tensor:
    y = model.codec.to_layout(video.flatten(0, 1))
    return recognition(model, y, model.observe(video, noise=noise), noise)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_is_what_it_says(
    tiny_model: Factory, scenes: Factory, draw: Factory, likelihood: str
) -> None:
    """One sequence after the other, one level after the other, in plain words."""
    model = tiny_model(3, seed=3, likelihood=likelihood)
    video, noise = scenes(), draw(model)
    trace, blocks = model.observe(video, noise=noise), list(model.blocks)
    moments = [int(noise[:, 0, b, 0].argmax()) for b in range(3)]
    s = [[level.s[b, moments[b]] for b in range(3)] for level in trace.levels]
    for n in (1, 2):
        spent = 0.0
        for b in range(3):
            c, above = torch.zeros(12, dtype=video.dtype), None
            for m in (2, 1, 0):
                above = c if m == n else above
                c = blocks[m].f_dec(c[None], s[m][b if m >= n else b - 1][None])[0]
            painted = model.likelihood.mean(model.codec.decode(c[None]))
            real = model.codec.to_layout(video[b, moments[b]][None])
            found, true = (glance(model, picture, n, above) for picture in (painted, real))
            spent += float(kl(found, true).detach()) / 3
        assert asked(model, video, noise)[n - 1].item() == pytest.approx(spent)


def glance(model: VPR, picture: Tensor, n: int, c: Tensor) -> Belief:
    """q(s | x, d = 0, c) at index n."""
    x = model.codec.encode(picture)
    for block in list(model.blocks)[: n + 1]:
        x = block.f_enc(x)
    block = model.blocks[n]
    nothing = torch.zeros_like(c)[None]
    return block.q.given(block.read(x) + block.q.of_d(nothing) + block.q.of_c(c[None]))


def test_only_those_who_paint_learn_from_it(
    tiny_model: Factory, scenes: Factory, draw: Factory
) -> None:
    model = tiny_model(3, seed=3)
    asked(model, scenes(), draw(model)).sum().backward()
    learned = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert {name.split(".")[2] for name in learned if name.startswith("blocks")} == {"f_dec"}
    reading = {f"codec.{part}" for part in ("down", "embed")}
    assert not any(name.startswith(tuple(reading)) for name in learned)
    assert any(name.startswith("codec.paint") for name in learned)
    assert all(weight.requires_grad for weight in model.parameters())


def test_is_part_of_the_loss_but_not_of_the_elbo(
    tiny_model: Factory, scenes: Factory, draw: Factory
) -> None:
    model = tiny_model(3, seed=3)
    video, noise = scenes(), draw(model)
    plain = model.loss(video, noise=noise, weights=ALL)
    more = model.loss(video, noise=noise, weights=ALL._replace(recognition=0.5))
    extra = 0.5 * asked(model, video, noise).sum().item()
    assert extra > 0
    assert more.total.item() == pytest.approx(plain.total.item() + extra)
    assert more.elbo.item() == plain.elbo.item()


def test_one_level_has_nothing_below(tiny_model: Factory, scenes: Factory) -> None:
    model, weights = tiny_model(1), Weights(1.0, (1.0,), recognition=1.0)
    assert model.loss(scenes(), weights=weights).total == model.loss(scenes()).total


def test_without_noise_it_looks_at_the_last_frame(tiny_model: Factory, scenes: Factory) -> None:
    model, video = tiny_model(2, seed=3), scenes(length=6)
    noise = torch.zeros(6, 2, 3, 3, dtype=video.dtype)
    noise[-1] = 1e-9
    torch.testing.assert_close(asked(model, video, None), asked(model, video, noise))
