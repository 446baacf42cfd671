"""Diagonal Gaussians against torch.distributions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Independent, Normal, kl_divergence

from vpr.beliefs import Belief, cross_entropy, kl


def random_belief(seed: int, shape: tuple[int, ...] = (4, 3)) -> Belief:
    generator = torch.Generator().manual_seed(seed)
    mean = 3 * torch.randn(shape, generator=generator, dtype=torch.float64)
    return Belief(mean, torch.randn(shape, generator=generator, dtype=torch.float64).exp())


def normal(belief: Belief) -> Independent:
    return Independent(Normal(belief.mean, belief.std), 1)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 8))
def test_divergence_and_entropies(seed: int, size: int) -> None:
    q, p = random_belief(2 * seed, (4, size)), random_belief(2 * seed + 1, (4, size))
    torch.testing.assert_close(kl(q, p), kl_divergence(normal(q), normal(p)))
    torch.testing.assert_close(q.entropy(), normal(q).entropy())
    torch.testing.assert_close(kl(q, p), cross_entropy(q, p) - q.entropy())
    torch.testing.assert_close(cross_entropy(q, q), q.entropy())
    assert (kl(q, p) >= 0).all()


def test_kl_of_the_same_is_exactly_zero() -> None:
    q = random_belief(0)
    assert not kl(q, q).any()


def test_kl_by_hand() -> None:
    q = Belief(torch.tensor([1.0]), torch.tensor([1.0]))
    p = Belief(torch.tensor([0.0]), torch.tensor([2.0]))
    assert float(kl(q, p)) == pytest.approx(0.5 * (0.25 + 0.25 - 1 + 1.3862944))
    assert float(kl(p, q)) == pytest.approx(0.5 * (4 + 1 - 1 - 1.3862944))


def test_kl_has_the_gradient_of_torch_distributions() -> None:
    leaves = [v.requires_grad_() for v in (*random_belief(1), *random_belief(2))]
    q, p = Belief(*leaves[:2]), Belief(*leaves[2:])
    found = torch.autograd.grad(kl(q, p).sum(), leaves)
    wanted = torch.autograd.grad(kl_divergence(normal(q), normal(p)).sum(), leaves)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b)


def test_leading_dimensions_are_kept() -> None:
    q, p = random_belief(1, (2, 5, 3)), random_belief(2, (2, 5, 3))
    assert kl(q, p).shape == q.entropy().shape == cross_entropy(q, p).shape == (2, 5)


def test_samples_have_the_mean_and_the_spread() -> None:
    q = random_belief(3)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(20_000, 4, 3, generator=generator, dtype=torch.float64)
    drawn = q.rsample(noise)
    standardised = (drawn - q.mean) / q.std
    assert float(standardised.mean(0).abs().max()) < 0.05
    assert float((standardised.std(0) - 1).abs().max()) < 0.05


def test_a_sample_is_mean_plus_std_times_noise() -> None:
    q, noise = random_belief(4), torch.full((4, 3), -2.0, dtype=torch.float64)
    torch.testing.assert_close(q.rsample(noise), q.mean - 2 * q.std)
    assert q.rsample(None) is q.mean


def test_samples_are_differentiable() -> None:
    q = Belief(*(v.requires_grad_() for v in random_belief(5)))
    noise = torch.full((4, 3), 0.5, dtype=torch.float64)
    mean, std = torch.autograd.grad(q.rsample(noise).sum(), q)
    assert torch.equal(mean, torch.ones_like(mean))
    assert torch.equal(std, noise)


def test_standard() -> None:
    like = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    standard = Belief.standard(like)
    assert not standard.mean.any()
    assert (standard.std == 1).all()
    assert standard.mean.dtype == torch.float64
