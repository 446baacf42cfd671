"""From an experiment's name to its results: run what is missing, then draw, summarise, tabulate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vpr.errors import VPRError
from vpr.experiments.runner.base import Claim, Experiment, Results, Scale
from vpr.experiments.runner.jobs import Ending, Job, run_jobs
from vpr.experiments.runner.store import load, path_of, results_folder
from vpr.experiments.runner.table import shown, write_table
from vpr.experiments.shared.panels import require_matplotlib, spread, write_figure
from vpr.utils.files import write_json
from vpr.utils.pool import JobProgress

SUMMARY = "summary.json"


class Request(NamedTuple):
    """What `vpr reproduce` was asked for."""

    experiment: Experiment
    seeds: int
    scale: Scale
    jobs: int
    out: Path
    runs: Path
    only: tuple[str, ...] = ()  # variants; none: all of them


def missing(request: Request) -> list[Job]:
    """What is still to be run: every variant at a seed, before the next seed."""
    if request.seeds < 1 or request.jobs < 1:
        raise VPRError(f"seeds and jobs must be 1 or more, got {request.seeds}, {request.jobs}")
    experiment, folder = request.experiment, results_folder(request.out, request.scale)
    todo = []
    for seed in range(request.seeds):
        for variant, config in _chosen(request).items():
            path = path_of(folder, experiment, variant, seed)
            if not path.exists():
                todo.append(Job(experiment.name, variant, seed, config, path, request.runs))
    return todo


def _chosen(request: Request) -> dict[str, Any]:
    """The variants that were asked for, in the experiment's order."""
    variants = request.experiment.variants(request.scale)
    for name in request.only:
        if name not in variants:
            choices = ", ".join(variants)
            raise VPRError(f"{request.experiment.name} has no variant {name!r}: it has {choices}")
    return {
        name: each for name, each in variants.items() if not request.only or name in request.only
    }


def reproduce(request: Request, on_progress: Callable[[JobProgress], None]) -> Ending:
    """Run what is missing; bring figure, summary and table up to date with what there is."""
    folder = results_folder(request.out, request.scale)
    conclude(request.experiment, folder, request.scale)  # what cannot work fails before hours do
    ending = run_jobs(missing(request), request.jobs, on_progress)
    conclude(request.experiment, folder, request.scale)
    return ending


def conclude(experiment: Experiment, folder: Path, scale: Scale) -> None:
    """Figure, summary and table, from the files that are there."""
    require_matplotlib()
    results = load(folder, experiment, scale)
    if results:
        write_figure(folder / experiment.name / experiment.name, experiment.draw(results))
        write_json(folder / experiment.name / SUMMARY, summary(experiment, results))
    write_table(folder, scale)


def summary(experiment: Experiment, results: Results) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "seeds": {variant: [run.seed for run in runs] for variant, runs in results.items()},
        "claims": [_as_dict(claim) for claim in experiment.claims(results)] if results else [],
    }


def _as_dict(claim: Claim) -> dict[str, Any]:
    values = np.asarray(claim.ours)
    numbers = {"mean": float(values.mean()), "std": float(spread(values))}
    return claim._asdict() | numbers | {"shown": shown(claim)}
