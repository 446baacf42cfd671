"""Updates that are read as if nothing had changed, so that a level learns to find what did.

A comparison asks q_st what it makes of a new frame under the old context. An update gives the
posterior the context that was predicted for it, and where predictions are right there is nothing to
fear from repeating them. So without this a level that foresees everything forgets to look.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import torch
from torch import Tensor


class Stale(NamedTuple):
    """At which updates the posterior is q(s | x_τ, d_{τ−1}, c_τ), as if nothing had changed.

    At the top, where c = 0, that is the q_st of the comparison before; below it, q_st has the old c
    as well. Other updates never teach it, since they are given the d that was predicted for them.
    """

    when: Tensor  # (B, K)
    before: Tensor  # (B, D) the d of the update before the first

    def at(self, k: int, d: Tensor, ds: list[Tensor]) -> Tensor:
        """For update k, of which d (B, D) is the right one; `ds` are those of the ones before."""
        return torch.where(self.when[:, k : k + 1], ds[-1] if ds else self.before, d)


def chosen(noise: Tensor | None, share: float) -> Tensor | None:  # (B, T)
    """A share of all moments, the same for every level: a number of level 1's noise chooses.

    noise (T, N, B, S).
    """
    if noise is None or not share:
        return None
    return (noise[:, 0, :, -1] > NormalDist().inv_cdf(1 - share)).t()
