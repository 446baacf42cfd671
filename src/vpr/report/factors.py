"""Which factor lives on which level: whose changes are its events, and what its state tells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vpr.demo.factors import whole
from vpr.evaluation import random_like, score, told
from vpr.report.watch import Watched


class Factor(NamedTuple):
    """With a number for each level, level 1 first."""

    name: str
    change_rate: float  # share of frames, without the first
    f1: tuple[float, ...]  # events against changes, exact frame
    chance: tuple[float, ...]  # the same for as many events placed at random
    told: tuple[float, ...]  # share that a probe reads from the level's mean


def factor_facts(watched: Watched, seed: int) -> list[Factor]:
    names = whole(watched.changes)
    marks = [level.boundary for level in watched.levels]
    blind = [random_like(each, np.random.default_rng(seed)) for each in marks]
    values = {name: watched.factors[name] for name in names}
    shares = [told(level.mean, values) for level in watched.levels]
    return [
        Factor(
            name=name,
            change_rate=float(watched.changes[name][:, 1:].mean()),
            f1=tuple(score(each, watched.changes[name]).f1 for each in marks),
            chance=tuple(score(each, watched.changes[name]).f1 for each in blind),
            told=tuple(share[name] for share in shares),
        )
        for name in names
    ]
