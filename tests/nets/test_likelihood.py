"""The fast likelihood is the plain one, in value and gradient."""

import pytest
import torch
import torch.nn.functional as F

from vpr.errors import VPRError
from vpr.nets.likelihood import Bernoulli, Gaussian, make_likelihood


@pytest.mark.parametrize("shape", [(1, 3), (16, 4, 4), (37, 5, 2, 2)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_bernoulli_is_binary_cross_entropy(shape: tuple[int, ...], channels_last: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = 20 * torch.randn(shape, generator=generator, dtype=torch.float64)
    target = torch.rand(shape, generator=generator, dtype=torch.float64)
    if channels_last and len(shape) == 4:
        logits, target = (v.contiguous(memory_format=torch.channels_last) for v in (logits, target))
    ours, plain = (logits.clone().requires_grad_() for _ in range(2))
    value = Bernoulli().nll(ours, target)
    wanted = F.binary_cross_entropy_with_logits(plain, target, reduction="sum")
    (3 * value).backward()
    (3 * wanted).backward()
    torch.testing.assert_close(value, wanted, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(ours.grad, plain.grad)


def test_gaussian_is_half_the_squared_error() -> None:
    output, target = torch.rand(2, 3), torch.rand(2, 3)
    wanted = ((output - target) ** 2).sum() / 2
    torch.testing.assert_close(Gaussian().nll(output, target), wanted)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Gaussian()])
def test_level_is_the_inverse_of_mean(likelihood: Bernoulli | Gaussian) -> None:
    mean = torch.tensor([0.01, 0.5, 0.9])
    torch.testing.assert_close(likelihood.mean(likelihood.level(mean)), mean)


def test_unknown_name_raises() -> None:
    with pytest.raises(VPRError, match="'bernoulli' or 'gaussian', got 'poisson'"):
        make_likelihood("poisson")
