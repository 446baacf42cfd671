"""VTA: boundaries, their prior, and what depends on them."""

import math

import pytest
import torch

from tests.baselines.made import model, noise, video
from vpr import VPRError
from vpr.baselines.vta_boundaries import (
    FORCED,
    boundary_kl,
    constrained,
    draw_boundaries,
    lengths,
    temperature,
)
from vpr.beliefs import kl

BOUNDARY = torch.tensor([[1.0, 0, 0, 0, 1, 1, 0]])


def test_boundaries_are_binary_with_the_gradient_of_the_relaxed_sample() -> None:
    odds = torch.zeros(2, 500, dtype=torch.float64, requires_grad=True)
    eps = torch.randn(2, 500, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    low = torch.tensor(0.5, dtype=torch.float64)
    drawn = draw_boundaries(odds, eps, low)
    assert drawn.logit is not None
    assert ((drawn.hard - drawn.hard.round()).abs() < 1e-12).all()
    assert (drawn.hard[:, 0] == 1).all()
    drawn.hard.sum().backward()
    soft = drawn.logit.detach().sigmoid()
    torch.testing.assert_close(odds.grad[:, 1:], (soft * (1 - soft) / low)[:, 1:])  # type: ignore[index]
    assert not odds.grad[:, 0].any()  # type: ignore[index]


@pytest.mark.parametrize("odds", [-2.0, 0.0, 1.0])
def test_boundaries_have_the_probability_of_their_odds(odds: float) -> None:
    eps = torch.randn(1, 40_000, generator=torch.Generator().manual_seed(0))
    drawn = draw_boundaries(torch.full_like(eps, odds), eps, torch.tensor(0.7))
    assert drawn.hard.mean().item() == pytest.approx(1 / (1 + math.exp(-odds)), abs=0.01)


def test_without_noise_the_more_probable_choice_is_taken() -> None:
    odds = torch.tensor([[-3.0, -0.1, 0.1, 5.0]])
    drawn = draw_boundaries(odds, None, torch.tensor(0.7))
    assert drawn.hard.tolist() == [[1, 0, 1, 1]]
    assert drawn.logit is None


def test_the_expected_density_ratio_is_a_divergence() -> None:
    """Zero for equal odds, positive for others; without samples, that of Bernoulli variables."""
    eps, low = torch.randn(1, 40_000, generator=torch.Generator().manual_seed(0)), torch.tensor(0.5)
    q = torch.full_like(eps, 1.0)
    logit = draw_boundaries(q, eps, low).logit
    assert boundary_kl(q, q, logit, low).abs().max() == 0
    for p in (-1.0, 3.0):
        assert boundary_kl(q, torch.full_like(q, p), logit, low).mean() > 0.1
    exact = boundary_kl(q[:, :1], -q[:, :1], None, low)
    a = 1 / (1 + math.exp(-1.0))
    assert exact.item() == pytest.approx(
        a * math.log(a / (1 - a)) + (1 - a) * math.log((1 - a) / a)
    )


def test_lengths_count_the_segment_before_each_frame() -> None:
    assert lengths(BOUNDARY.long()).tolist() == [[0, 1, 2, 3, 4, 1, 1]]


def test_the_prior_expects_an_end_of_long_segments_and_no_more_than_so_many() -> None:
    p = torch.zeros_like(BOUNDARY)
    read, copy = FORCED, -FORCED
    assert constrained(p, BOUNDARY, 3, None).tolist() == [
        pytest.approx([0, 0, 0, read, read, 0, 0])
    ]
    assert constrained(p, BOUNDARY, 3, 2).tolist() == [
        pytest.approx([0, 0, 0, read, read, copy, copy])
    ]
    assert torch.equal(constrained(p, BOUNDARY, 9, 9), p)


def test_limits_on_segments_are_part_of_the_training_loss() -> None:
    """They change the cost of the frames they apply to, and no other."""
    frames, eps = video(), noise(model("vta"))

    def costs(longest: int, most: int, training: bool = True) -> torch.Tensor:
        net = model("vta", max_segment_length=longest, max_segments=most).train(training)
        return net.observe(frames, noise=eps).levels[1].kl

    found = model("vta").observe(frames, noise=eps).levels[1].evidence.boundary
    long = lengths(found.long()) >= 3
    assert long.any()
    assert torch.equal(costs(3, 99) != costs(99, 99), long)
    second = found.long().cumsum(1) - found.long() >= 2  # two segments or more before the frame
    assert second.any()
    assert torch.equal(costs(99, 2) != costs(99, 99), second)
    assert torch.equal(costs(99, 2, training=False), costs(99, 99, training=False))


def test_forced_boundaries_draw_the_posterior() -> None:
    eps, low = torch.randn(1, 20_000, generator=torch.Generator().manual_seed(0)), torch.tensor(0.5)
    means = {}
    for q in (-4.0, 4.0):
        odds = torch.full_like(eps, q)
        logit = draw_boundaries(odds, eps, low).logit
        for p in (-FORCED, FORCED):
            means[q, p] = boundary_kl(odds, torch.full_like(odds, p), logit, low).mean().item()
    assert means[4.0, FORCED] < means[-4.0, FORCED]
    assert means[4.0, -FORCED] > means[-4.0, -FORCED]


def test_z_changes_at_boundaries_only_and_pays_there_only() -> None:
    net = model("vta")
    level = net.observe(video(), noise=noise(net)).levels[1]
    boundary = level.evidence.boundary
    assert 0 < boundary[:, 1:].float().mean() < 1
    moved = (level.s[:, 1:] - level.s[:, :-1]).abs().amax(-1) > 1e-9
    assert torch.equal(moved, boundary[:, 1:])
    divergence = kl(level.q, level.p)
    assert torch.equal(level.kl[:, 0], divergence[:, 0])  # the first boundary is given


def test_a_segment_is_decoded_from_its_own_frames_and_the_past() -> None:
    """q(s) does not see frames after t; q(z) sees those of its own segment, not of the next."""
    net, frames = model("vta").eval(), video(1, 13)
    with torch.no_grad():  # boundaries at fixed places: at frames brighter than the others
        x = net.codec.encode(net.codec.to_layout(frames[0])).unsqueeze(0)
        m = torch.zeros(1, 13, 1, dtype=torch.float64)
        m[:, [0, 5, 9]] = 1
        other = x.clone()
        other[:, 7] += 1  # in the second segment
        rest, begun = ((f(x, m), f(other, m)) for f in (net._rest, net._begun))
    seen = [
        ((a - b).abs().amax(-1) > 1e-9)[0].nonzero().flatten().tolist() for a, b in (rest, begun)
    ]
    assert seen == [[5, 6, 7], [7, 8]]


def test_rollouts_of_segments_read_at_every_step_and_none_is_too_long() -> None:
    net = model("vta").eval()
    with torch.no_grad():
        net.p_m.bias.fill_(-50.0)  # a prior that never expects a boundary
        net.p_m.weight.zero_()
    state = net.observe(video()).state
    assert net.rollout(state, 2, 4).boundary.all()
    made = net.rollout(state._replace(length=torch.ones(3, dtype=torch.long)), 1, 9)
    # One frame of the segment is seen: two follow, then segments of `max_segment_length` = 3.
    marks = [False, False, True] * 3
    assert made.boundary[..., 1].tolist() == [marks] * 3
    assert made.state.length.tolist() == [1] * 3  # type: ignore[attr-defined]


def test_the_state_knows_the_length_of_the_present_segment() -> None:
    net = model("vta")
    trace = net.observe(video(), noise=noise(net))
    for marks, length in zip(trace.levels[1].evidence.boundary, trace.state.length, strict=True):  # type: ignore[attr-defined]
        assert length == 13 - marks.nonzero().max()


def test_the_temperature_falls_as_steps_are_counted() -> None:
    assert temperature(torch.tensor(0), 0.5).item() == pytest.approx(1.0)
    assert temperature(torch.tensor(2), 0.5).item() == pytest.approx(0.1 + 0.9 / 4)
    net = model("vta", temperature_decay=0.5)
    net.after_step()
    assert net.temperature().item() == pytest.approx(0.55)  # type: ignore[operator]


@pytest.mark.parametrize("size", [16, 32, 64])
def test_the_published_image_network_keeps_the_size_of_frames(size: int) -> None:
    net = model("vta", images="published", frame=(3, size, size))
    frames = torch.rand(2, 3, 3, size, size, dtype=torch.float64)
    loss = net.loss(frames, noise=noise(net, 2, 3))
    loss.total.backward()
    assert net.reconstruct(loss.trace.c0).shape == frames.shape
    still = [name for name, w in net.named_parameters() if w.grad is None or not w.grad.any()]
    assert still == []
    with pytest.raises(VPRError, match="needs 16, 32, 64 or 128"):
        model("vta", images="published", frame=(3, 16, 32))
