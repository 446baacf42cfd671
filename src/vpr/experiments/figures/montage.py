"""Footage with known cuts: F1 of each level, and of other detectors on the same file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np

from vpr.config import RunConfig
from vpr.data import Video
from vpr.evaluation import boundary_scores
from vpr.experiments.known_cuts.detectors import DETECTORS, require_detectors, run_detectors
from vpr.experiments.known_cuts.montage_figure import draw, first_minute
from vpr.experiments.known_cuts.montage_film import RATE, Film, Montage, load_or_make_film
from vpr.experiments.known_cuts.scenes import single_colour_maze
from vpr.experiments.runner.base import Advance, Claim, Experiment, Measured, Result, Results, Scale
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.training_runs import train_or_load
from vpr.segmenting.segment import segment
from vpr.segmenting.timeline import Timeline

TOLERANCES = {"0 s": Fraction(0), "0.2 s": Fraction(1, 5), "1 s": Fraction(1)}
CLAIMED = "0.2 s"
DETECTOR_SETTINGS = {
    "content": "default settings",
    "adaptive": "default settings",
    "ruptures": "KernelCPD (linear) on frames of 8×8 pixels, with the largest penalty at which it "
    "finds at least as many changes in the training part as there are cuts",
}
Scores = dict[str, dict[str, float]]  # tolerance → score → value


@dataclass(frozen=True)
class Setting:
    """A film, and a training run on its training part."""

    seed: int = 0
    film: Montage = field(default_factory=Montage)
    run: RunConfig = field(default_factory=lambda: run_config("video", "cpu"))


def variants(scale: Scale) -> dict[str, Setting]:
    """Scale paper is the same as cpu, since the experiment is not in the paper."""
    if scale != "tiny":
        return {"video": Setting()}
    maze = single_colour_maze(3, 2, 120)
    short = Montage(seconds=24, shortest=0.6, longest=2.0, maze=maze)
    return {"video": Setting(film=short, run=run_config("video", "tiny"))}


def measure(config: Setting, seed: int, runs: Path, advance: Advance) -> Measured:
    require_detectors()
    film = load_or_make_film(config.film, runs, advance)
    run = _train_on(film, replace(config.run, seed=seed), advance)
    record, folder = train_or_load(run, runs, advance)
    start = perf_counter()
    timeline = segment(
        film.test.path, folder, on_progress=lambda done, of: advance(done, of or done, "segmenting")
    )
    found = _by_level(timeline) | run_detectors(film, advance)
    metrics = {
        "worlds": film.kinds,
        "cuts": len(film.test.cuts),
        "scores": {name: scores(times, film.test.cuts) for name, times in found.items()},
        "random": {
            f"level {level}": scores(_random_times(timeline, level), film.test.cuts)
            for level in timeline.reported
        },
        "minute": first_minute(film.test, found),
        "elbo": record["evaluation"]["elbo"],
    }
    return Measured(metrics, record["seconds"] + perf_counter() - start, record["provenance"])


def _train_on(film: Film, run: RunConfig, advance: Advance) -> RunConfig:
    """The run with the training part as its footage, which is decoded first."""
    assert isinstance(run.data, Video)
    footage = replace(run.data, path=str(film.training.path))
    footage.prepare(lambda done, total: advance(done, total, "decoding"))
    return replace(run, data=footage)


def _by_level(timeline: Timeline) -> dict[str, list[Fraction]]:
    return {
        f"level {level}": [event.time for event in timeline.events(level)]
        for level in timeline.reported
    }


def _random_times(timeline: Timeline, level: int) -> list[Fraction]:
    """As many random times as the level has events."""
    rng = np.random.default_rng(level)
    count = len(timeline.events(level))
    chosen = rng.choice(np.arange(1, timeline.frames), size=count, replace=False)
    return [Fraction(int(frame), RATE) for frame in np.sort(chosen)]


def scores(found: Iterable[Fraction], true: Iterable[Fraction]) -> Scores:
    """F1, precision and recall within each tolerance."""
    found, true = list(found), list(true)
    tallies = {name: boundary_scores(found, true, t) for name, t in TOLERANCES.items()}
    return {
        name: {"f1": each.f1, "precision": each.precision, "recall": each.recall}
        for name, each in tallies.items()
    }


def claims(results: Results) -> list[Claim]:
    """One row per level and detector, without selection."""
    return [
        Claim(
            f"Montage of {', '.join(runs[0].metrics['worlds'])}: {DETECTORS.get(name, name)}, "
            f"F1 of the cuts within {CLAIMED}",
            "none",
            [run.metrics["scores"][name][CLAIMED]["f1"] for run in runs],
            DETECTOR_SETTINGS.get(name) or _setting(runs),
        )
        for runs in results.values()
        for name in runs[0].metrics["scores"]
    ]


def _setting(runs: list[Result]) -> str:
    return describe([run._replace(config=run.config["run"]) for run in runs])


EXPERIMENT = Experiment(
    name="montage",
    paper="",
    title="Montage with known cuts: F1 of each level, of PySceneDetect and of ruptures",
    cost="one training run of cpu/video, and some minutes for the film and the other detectors",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
)
