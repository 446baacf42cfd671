"""Footage with known cuts: which level finds them, and what others find in the same file."""

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
from vpr.experiments.known_cuts.detectors import NAMES, require_rivals, rivals
from vpr.experiments.known_cuts.drawing import draw, minute
from vpr.experiments.known_cuts.film import RATE, Film, Montage, film
from vpr.experiments.known_cuts.scenes import walks
from vpr.experiments.runner.base import Advance, Claim, Experiment, Measured, Result, Results, Scale
from vpr.experiments.runner.settings import run_of, setting
from vpr.experiments.runner.trained import finish
from vpr.segmenting.segment import segment
from vpr.segmenting.timeline import Timeline

TOLERANCES = {"0 s": Fraction(0), "0.2 s": Fraction(1, 5), "1 s": Fraction(1)}
CLAIMED = "0.2 s"
RULES = {
    "content": "its own settings",
    "adaptive": "its own settings",
    "ruptures": "KernelCPD (linear) on frames of 8×8 pixels, with the largest penalty at which it "
    "finds as many changes in the training part as there are cuts",
}
Scores = dict[str, dict[str, float]]  # tolerance → score → value


@dataclass(frozen=True)
class Setting:
    """A film, and a training run whose footage is the first part of it."""

    seed: int = 0
    film: Montage = field(default_factory=Montage)
    run: RunConfig = field(default_factory=lambda: run_of("video", "cpu"))


def variants(scale: Scale) -> dict[str, Setting]:
    """The paper has no such experiment, hence no scale of its own."""
    if scale != "tiny":
        return {"video": Setting()}
    little = Montage(seconds=24, shortest=0.6, longest=2.0, maze=walks(3, 2, 120))
    return {"video": Setting(film=little, run=run_of("video", "tiny"))}


def measure(config: Setting, seed: int, runs: Path, advance: Advance) -> Measured:
    require_rivals()
    shown = film(config.film, runs, advance)
    run = _on(shown, replace(config.run, seed=seed), advance)
    record, folder = finish(run, runs, advance)
    start = perf_counter()
    timeline = segment(
        shown.test.path,
        folder,
        on_progress=lambda done, of: advance(done, of or done, "segmenting"),
    )
    found = _by_level(timeline) | rivals(shown, advance)
    metrics = {
        "worlds": shown.worlds,
        "cuts": len(shown.test.cuts),
        "scores": {name: scores(times, shown.test.cuts) for name, times in found.items()},
        "random": {
            f"level {level}": scores(_at_random(timeline, level), shown.test.cuts)
            for level in timeline.reported
        },
        "minute": minute(shown.test, found),
        "elbo": record["evaluation"]["elbo"],
    }
    return Measured(metrics, record["seconds"] + perf_counter() - start, record["provenance"])


def _on(shown: Film, run: RunConfig, advance: Advance) -> RunConfig:
    """The run with the training part as its footage, decoded."""
    assert isinstance(run.data, Video)
    footage = replace(run.data, path=str(shown.training.path))
    footage.prepare(lambda done, total: advance(done, total, "decoding"))
    return replace(run, data=footage)


def _by_level(timeline: Timeline) -> dict[str, list[Fraction]]:
    return {
        f"level {level}": [event.time for event in timeline.events(level)]
        for level in timeline.reported
    }


def _at_random(timeline: Timeline, level: int) -> list[Fraction]:
    """As many events as the level has, anywhere."""
    rng = np.random.default_rng(level)
    count = len(timeline.events(level))
    chosen = rng.choice(np.arange(1, timeline.frames), size=count, replace=False)
    return [Fraction(int(frame), RATE) for frame in np.sort(chosen)]


def scores(found: Iterable[Fraction], true: Iterable[Fraction]) -> Scores:
    """Within each tolerance."""
    found, true = list(found), list(true)
    tallies = {name: boundary_scores(found, true, t) for name, t in TOLERANCES.items()}
    return {
        name: {"f1": each.f1, "precision": each.precision, "recall": each.recall}
        for name, each in tallies.items()
    }


def claims(results: Results) -> list[Claim]:
    """One line for each level and each of the others: none was chosen."""
    return [
        Claim(
            f"Montage of {', '.join(runs[0].metrics['worlds'])}: {NAMES.get(name, name)}, "
            f"F1 of the cuts within {CLAIMED}",
            "none",
            [run.metrics["scores"][name][CLAIMED]["f1"] for run in runs],
            RULES.get(name) or _setting(runs),
        )
        for runs in results.values()
        for name in runs[0].metrics["scores"]
    ]


def _setting(runs: list[Result]) -> str:
    return setting([run._replace(config=run.config["run"]) for run in runs])


EXPERIMENT = Experiment(
    name="montage",
    title="A montage with known cuts: F1 of each level, of PySceneDetect and of ruptures",
    cost="one run of cpu/video, and some minutes for the film and the others",
    variants=variants,
    measure=measure,
    draw=draw,
    claims=claims,
)
