"""Runs a model and collects the data of its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from vpr.data import Dataset, evaluation_rng, unseen
from vpr.errors import VPRError
from vpr.generation.film import Film
from vpr.generation.rollout_film import rollout_film
from vpr.generation.sample_film import sample_film
from vpr.model import VPR
from vpr.pages.report.factor_scores import FactorScores, factor_scores
from vpr.pages.report.level_statistics import LevelStatistics, level_statistics
from vpr.pages.report.observe import Observations, observe_sequences
from vpr.utils.checks import check_request

STEPS, FRAMES = 12, 30  # of an animation: predictions or samples, and frames observed before


class Report(NamedTuple):
    run: str
    dataset: str
    sequences: int
    length: int
    seed: int
    observed: Observations
    levels: list[LevelStatistics]  # level 1 first
    factors: list[FactorScores]  # fastest first; empty without labels
    rollouts: Film
    samples: Film
    training: list[dict[str, Any]]  # lines of metrics.jsonl; empty without this file
    unfinished: tuple[int, int] | None = None  # steps done and intended, if the former are fewer


def run_report(
    model: VPR,
    data: Dataset,
    *,
    run: str,
    training: list[dict[str, Any]],
    sequences: int = 128,
    length: int = 50,
    seed: int = 1,
    unfinished: tuple[int, int] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Evaluate `sequences` new sequences; the animations show a further one.

    `unfinished`: how many steps the model was trained, and how many it should be.
    """
    check_request(model.config, data, sequences, length)
    if sequences < 2:
        raise VPRError(
            "a report needs 2 or more sequences: its probes train on some and are scored on others"
        )
    new, rng = unseen(data), evaluation_rng(seed)
    observed = observe_sequences(model.eval(), new, sequences, length, rng, on_progress)
    steps = min(STEPS, length // 2)
    frames = min(FRAMES, max(length - steps, 2))
    every = range(1, model.config.levels + 1)
    return Report(
        run=run,
        dataset=data.name,
        sequences=sequences,
        length=length,
        seed=seed,
        observed=observed,
        levels=[
            level_statistics(n, found) for n, found in zip(every, observed.levels, strict=True)
        ],
        factors=factor_scores(observed, seed),
        rollouts=rollout_film(model, data, every, steps=steps, frames=frames, seed=seed),
        samples=sample_film(model, data, every, n=steps, frames=frames, seed=seed),
        training=training,
        unfinished=unfinished,
    )


def report_json(report: Report) -> dict[str, Any]:
    """The report in JSON types."""
    return {
        "run": report.run,
        "dataset": report.dataset,
        "sequences": report.sequences,
        "length": report.length,
        "seed": report.seed,
        "levels": [_level(level) for level in report.levels],
        "factors": [factor._asdict() for factor in report.factors],
        "training": report.training[-1] if report.training else None,
        "unfinished": list(report.unfinished) if report.unfinished else None,
    }


def _level(level: LevelStatistics) -> dict[str, Any]:
    return level._asdict() | {
        "lengths": {"mean": level.lengths.mean, "events": level.lengths.events},
        "at_events": level.at_events._asdict(),
        "between": level.between._asdict(),
    }
