"""Run the missing runs of an experiment, then write figure, summary and results page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vpr.errors import VPRError
from vpr.executors.executor import Executor, OnProgress, Shard
from vpr.experiments.runner.experiment import Claim, Experiment, Results, Scale
from vpr.experiments.runner.jobs import Job, Outcome, run_jobs
from vpr.experiments.runner.results_page import write_results_page
from vpr.experiments.runner.store import load, result_path, results_folder
from vpr.experiments.runner.table import mean_and_std
from vpr.experiments.shared.panels import sample_std
from vpr.utils.figures import require_matplotlib, write_figure
from vpr.utils.files import write_json

SUMMARY = "summary.json"


class Request(NamedTuple):
    """The arguments of `vpr reproduce`."""

    experiment: Experiment
    seeds: int
    scale: Scale
    out: Path
    runs: Path
    only: tuple[str, ...] = ()  # variants; all if empty
    shard: Shard = Shard(1, 1)


def missing(request: Request) -> list[Job]:
    """Runs without a result file: all variants of seed 0, then of seed 1, …"""
    if request.seeds < 1:
        raise VPRError(f"seeds must be 1 or more, got {request.seeds}")
    experiment, folder = request.experiment, results_folder(request.out, request.scale)
    jobs = []
    for seed in range(request.seeds):
        for variant, config in _chosen(request).items():
            path = result_path(folder, experiment, variant, seed)
            jobs.append(Job(experiment.name, variant, seed, config, path, request.runs))
    return [job for job in request.shard.of(jobs) if not job.path.exists()]


def _chosen(request: Request) -> dict[str, Any]:
    """The selected variants, in the order of the experiment."""
    variants = request.experiment.variants(request.scale)
    for name in request.only:
        if name not in variants:
            choices = ", ".join(variants)
            raise VPRError(f"{request.experiment.name} has no variant {name!r}: it has {choices}")
    return {
        name: each for name, each in variants.items() if not request.only or name in request.only
    }


def reproduce(request: Request, executor: Executor, on_progress: OnProgress) -> Outcome:
    """Run the missing runs, and update figure, summary and results page."""
    folder = results_folder(request.out, request.scale)
    write_outputs(request.experiment, folder, request.scale)  # fail early, before any training
    ending = run_jobs(missing(request), executor, on_progress)
    write_outputs(request.experiment, folder, request.scale)
    return ending


def write_outputs(experiment: Experiment, folder: Path, scale: Scale) -> None:
    """Write figure, summary and results page from the existing result files."""
    require_matplotlib()
    results = load(folder, experiment, scale)
    if results:
        write_figure(folder / experiment.name / experiment.name, experiment.draw(results))
        write_json(folder / experiment.name / SUMMARY, summary(experiment, results))
    write_results_page(folder, scale)


def summary(experiment: Experiment, results: Results) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "seeds": {variant: [run.seed for run in runs] for variant, runs in results.items()},
        "claims": [_as_dict(claim) for claim in experiment.claims(results)] if results else [],
    }


def _as_dict(claim: Claim) -> dict[str, Any]:
    values = np.asarray(claim.ours)
    numbers = {"mean": float(values.mean()), "std": float(sample_std(values))}
    controls = claim.controls._asdict() if claim.controls else None
    texts = {"paper": str(claim.paper), "shown": mean_and_std(claim)}
    return claim._asdict() | numbers | texts | {"controls": controls}
