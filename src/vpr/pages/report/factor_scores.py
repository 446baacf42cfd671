"""Which factor each level represents: scores of its events, and probes of its state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vpr.evaluation import probe_scores, random_like, score
from vpr.pages.factors import single_factors
from vpr.pages.report.observe import Observations


class FactorScores(NamedTuple):
    """Scores of one factor for each level, level 1 first."""

    name: str
    change_rate: float  # share of frames, without the first
    f1: tuple[float, ...]  # events against changes, at the exact frame
    chance: tuple[float, ...]  # the same for as many events placed at random
    probe: tuple[float, ...]  # share that a probe reads from the level's mean


def factor_scores(observed: Observations, seed: int) -> list[FactorScores]:
    names = single_factors(observed.changes)
    marks = [level.boundary for level in observed.levels]
    random = [random_like(each, np.random.default_rng(seed)) for each in marks]
    values = {name: observed.factors[name] for name in names}
    shares = [probe_scores(level.mean, values) for level in observed.levels]
    return [
        FactorScores(
            name=name,
            change_rate=float(observed.changes[name][:, 1:].mean()),
            f1=tuple(score(each, observed.changes[name]).f1 for each in marks),
            chance=tuple(score(each, observed.changes[name]).f1 for each in random),
            probe=tuple(share[name] for share in shares),
        )
        for name in names
    ]
