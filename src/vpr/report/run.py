"""All that a report tells of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from vpr.data import Dataset, evaluation_rng, unseen
from vpr.errors import VPRError
from vpr.evaluation import check_request
from vpr.films import Film, rollout_film, sample_film
from vpr.model import VPR
from vpr.report.factors import Factor, factor_facts
from vpr.report.levels import Level, level_facts
from vpr.report.watch import Watched, watch_sequences

STEPS, FRAMES = 12, 30  # of a film: jumps or draws, and frames watched before


class Report(NamedTuple):
    run: str
    dataset: str
    sequences: int
    length: int
    seed: int
    watched: Watched
    levels: list[Level]  # level 1 first
    factors: list[Factor]  # fastest first; none where nothing is labelled
    rollouts: Film
    samples: Film
    training: list[dict[str, Any]]  # lines of metrics.jsonl; none where there is no such file


def run_report(
    model: VPR,
    data: Dataset,
    *,
    run: str,
    training: list[dict[str, Any]],
    sequences: int = 128,
    length: int = 50,
    seed: int = 1,
    watch: Callable[[int], None] | None = None,
) -> Report:
    """Counts come from `sequences` unseen sequences, films from another."""
    check_request(model, data, sequences, length)
    if sequences < 2:
        raise VPRError(
            "a report needs 2 sequences or more: to learn from one, and judge on another"
        )
    fresh, rng = unseen(data), evaluation_rng(seed)
    watched = watch_sequences(model.eval(), fresh, sequences, length, rng, watch)
    steps = min(STEPS, length // 2)
    frames = min(FRAMES, max(length - steps, 2))
    every = range(1, model.config.levels + 1)
    return Report(
        run=run,
        dataset=data.name,
        sequences=sequences,
        length=length,
        seed=seed,
        watched=watched,
        levels=[level_facts(n, seen) for n, seen in zip(every, watched.levels, strict=True)],
        factors=factor_facts(watched, seed),
        rollouts=rollout_film(model, data, every, steps=steps, frames=frames, seed=seed),
        samples=sample_film(model, data, every, n=steps, frames=frames, seed=seed),
        training=training,
    )
