"""Make and measure the footage model: `python -m vpr.experiments.footage.build FOLDER`.

Downloads the clips, makes the films, trains `cpu/vectors` on frozen features of the training film,
fits the probabilities to the training and the development film, and compares the model with other
detectors on the test film, whose clips are used for nothing else. Existing files in FOLDER are used
again. Writes the model to FOLDER/footage, and the results to --results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copy
from time import process_time
from typing import Any

import numpy as np

from vpr.config import RunConfig
from vpr.data import Vectors
from vpr.evaluation import calibration
from vpr.evaluation.matching import MatchCounts
from vpr.experiments.footage.calibrate import (
    Candidates,
    calibrate,
    first_hits,
    fit_weights,
    targets,
)
from vpr.experiments.footage.detectors import (
    MIN_GAP,
    Scores,
    best_threshold,
    change_points,
    choose_penalty,
    frame_differences,
    jumps,
    peaks,
    periodic,
    random,
    scene_cuts,
    transnet,
)
from vpr.experiments.footage.labelled_films import FILMS, FilmFile, inside, load_or_make, tally
from vpr.experiments.footage.real_clips import CLIPS, fetch
from vpr.experiments.footage.results_page import write_page
from vpr.features.extract import extract
from vpr.presets import preset
from vpr.pretrained import (
    CALIBRATION,
    CONFIG,
    MODEL,
    PREPROCESSING,
    PretrainedVPR,
    fingerprint,
    load_model,
)
from vpr.segmenting.event_calibration import Changes, non_maximum_suppression
from vpr.segmenting.segment import segment
from vpr.segmenting.selection import Selection
from vpr.segmenting.timeline import Timeline
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import train
from vpr.utils.config_fields import local_fields
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance
from vpr.utils.threads import use_threads

Signal = tuple[Scores, Scores]  # scores and times of all frames
HELD_OUT = 0.05  # share of the training film; only for the ELBO at the end of training
FEATURES = "efficientnet-lite0"
RESULTS = Path("results") / "footage"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=preset("cpu/vectors").training.steps)
    parser.add_argument("--detectors", default="", help="Only these, with commas. [all]")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"[{RESULTS}]")
    arguments = parser.parse_args()
    use_threads(1)
    folder: Path = arguments.folder
    fetch(folder / "clips", _printer("packages"))
    films = {
        name: load_or_make(plan, folder / "clips", folder / "films", _printer(f"film {name}"))
        for name, plan in FILMS.items()
    }
    run = trained(folder / "run", films["training"], arguments.steps)
    comparison = Comparison(load_model(run), films)
    if comparison.model.calibration is None:
        found = (comparison.by_level("training"), comparison.by_level("development"))
        made = calibrate(found[0], films["training"], found[1], films["development"])
        made.save(run / CALIBRATION, fingerprint(comparison.model))
        comparison = Comparison(load_model(run), films)
    export(run, folder / "footage")
    measure(
        comparison, RunFolder(run).config(), arguments.detectors, arguments.results / "footage.json"
    )
    write_page(arguments.results)


def trained(run: Path, film: FilmFile, steps: int) -> Path:
    """The folder `run` of a model, which is trained if necessary."""
    data = Vectors(str(film.path), features=FEATURES, held_out=HELD_OUT)
    data.prepare(_printer("features"))
    config = preset("cpu/vectors").with_data(data)
    config = replace(config, training=replace(config.training, steps=steps))
    train(config, run, on_step=lambda now: _printer("steps")(now.step, now.steps))
    return run


def export(run: Path, folder: Path) -> None:
    """Copy the model of a run, without paths of this machine in its configuration."""
    folder.mkdir(exist_ok=True)
    for name in (MODEL, PREPROCESSING, CALIBRATION):
        copy(run / name, folder / name)
    config = read_json(run / CONFIG)
    write_json(folder / CONFIG, config | {"data": config["data"] | _without_paths()})


def _without_paths() -> dict[str, str]:
    return dict.fromkeys(local_fields(Vectors), "")


def measure(comparison: Comparison, config: RunConfig, wanted: str, path: Path) -> None:
    """Apply the detectors to the test film, and add their scores to the results."""
    results = read_json(path) if path.exists() else {}
    results |= {
        "provenance": provenance(),
        "films": {name: describe(film, name) for name, film in comparison.films.items()},
        "config": to_dict(comparison.model.config),
        "training": to_dict(config.training),
        "calibration": measure_calibration(comparison),
    }
    results.setdefault("detectors", {})
    detectors = comparison.detectors()
    for name in wanted.split(",") if wanted else detectors:
        start = process_time()
        found = detectors[name]()
        scores = measured(found, comparison.films["test"])
        seconds = process_time() - start
        made = {"cpu_seconds": seconds, "commit": results["provenance"]["commit"]}
        results["detectors"][name] = scores | made
        print(name, scores["cuts"], scores["all"], file=sys.stderr, flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, results)


def describe(film: FilmFile, part: str) -> dict[str, Any]:
    """What a film contains."""
    kinds = [each.kind for each in film.boundaries]
    return {
        "seconds": film.frames / 25,
        **{kind: kinds.count(kind) for kind in ("cut", "dissolve", "fade")},
        "distractors": len(film.distractors),
        "clips": sum(clip.part == part for clip in CLIPS),
    }


class Comparison:
    """The model and other detectors of transitions, on the three films."""

    def __init__(self, model: PretrainedVPR, films: dict[str, FilmFile]) -> None:
        assert model.preprocessing is not None
        self.model, self.films, self.preprocessing = model, films, model.preprocessing
        self.top = model.config.levels
        self._timelines: dict[str, Timeline] = {}

    def inputs(self, film: str) -> Any:
        """The inputs of the model for all frames, (T, K)."""
        return self.preprocessing(np.load(extract(self.films[film].path, FEATURES).path))

    def times(self, film: str) -> Scores:
        times: Scores = np.load(extract(self.films[film].path, FEATURES).times)
        return times

    def timeline(self, film: str, selection: Selection | None = None) -> Timeline:
        source = str(extract(self.films[film].path, FEATURES).path)
        return segment(source, self.model, selection=selection)

    def all_events(self, film: str) -> Timeline:
        """The timeline of all events, without probabilities."""
        if film not in self._timelines:
            plain = PretrainedVPR(self.model.config)
            plain.load_state_dict(self.model.state_dict())
            plain.preprocessing = self.preprocessing
            source = str(extract(self.films[film].path, FEATURES).path)
            self._timelines[film] = segment(source, plain.eval())
        return self._timelines[film]

    def candidates(self, film: str, frames: list[int]) -> Candidates:
        changes = Changes()
        changes.add(self.inputs(film))
        return Candidates(self.times(film)[frames], frames, changes.complete())

    def by_level(self, film: str) -> dict[int, Candidates]:
        """The events of each level in a film."""
        timeline = self.all_events(film)
        return {
            level: self.candidates(film, [event.frame for event in timeline.events(level)])
            for level in timeline.reported_levels
        }

    def detectors(self) -> dict[str, Callable[[], list[float]]]:
        """Each detector as a function that returns times in the test film, slow ones last."""
        test = self.films["test"]
        count, duration = len(test.boundaries), test.frames / 25
        levels = range(self.top, 1, -1)
        return {
            **{f"VPR level {n}": partial(self._events, n) for n in levels},
            **{f"VPR level {n}: all events": partial(self._events, n, True) for n in levels},
            "D_st of level 2": lambda: self._thresholded(self._kl_static),
            "regression at all frames": self._every_frame,
            "feature jumps": lambda: self._thresholded(
                lambda film: (jumps(self.inputs(film)), self.times(film))
            ),
            "ruptures": self._ruptures,
            "frame difference": lambda: self._thresholded(
                lambda film: frame_differences(self.films[film].path)
            ),
            "PySceneDetect content": lambda: scene_cuts(test.path, "ContentDetector"),
            "PySceneDetect adaptive": lambda: scene_cuts(test.path, "AdaptiveDetector"),
            "periodic": lambda: periodic(count, duration),
            "random": lambda: random(count, duration),
            "TransNetV2": lambda: transnet(test.path),
        }

    def _events(self, level: int, plain: bool = False) -> list[float]:
        timeline = self.all_events("test") if plain else self.timeline("test")
        return [float(event.time) for event in timeline.events(level)]

    def _kl_static(self, film: str) -> Signal:
        values = self.all_events(film).curves[2].kl_static.astype(np.float64)
        return np.nan_to_num(values), self.times(film)

    def _thresholded(self, signal: Callable[[str], Signal]) -> list[float]:
        """Peaks above the threshold with the best mean F1 in the training and development films."""
        known = {film: signal(film) for film in ("training", "development")}
        threshold = best_threshold(
            list(known.values()),
            lambda found: sum(
                tally(times, self.films[film].spans()).f1
                for film, times in zip(known, found, strict=True)
            ),
        )
        return peaks(*signal("test"), threshold, MIN_GAP)

    def _every_frame(self) -> list[float]:
        """The regression of the calibration, fitted and applied to all frames."""
        every = {
            film: self.candidates(film, list(range(1, len(self.times(film))))) for film in FILMS
        }
        spans = {film: self.films[film].spans() for film in FILMS}
        weights = fit_weights(
            every["training"], spans["training"], every["development"], spans["development"]
        )
        p = every["test"].probabilities(weights)
        times = every["test"].times
        return sorted(times[non_maximum_suppression(times, p, MIN_GAP) & (p >= 0.5)].tolist())

    def _ruptures(self) -> list[float]:
        """Change points, with the penalty that gives the true number in the training film."""
        count = len(self.films["training"].boundaries)
        penalty = choose_penalty(self.inputs("training"), count)
        times = self.times("test")
        return [float(times[place]) for place in change_points(self.inputs("test"), penalty)]


def measured(found: list[float], film: FilmFile) -> dict[str, Any]:
    """F1, precision and recall for cuts, and for all transitions; what else was found."""
    cuts = tally(found, film.spans("cut"), film.spans("dissolve", "fade"))
    inner = targets(film, 2, 3)
    return {
        "cuts": _as_json(cuts),
        "all": _as_json(tally(found, film.spans())),
        "dissolves": {"recall": tally(found, film.spans("dissolve")).recall},
        "fades": {"recall": tally(found, film.spans("fade")).recall},
        "with distractors": _as_json(tally(found, inner)),
        "found": len(found),
    }


def _as_json(each: MatchCounts) -> dict[str, Any]:
    return {"f1": each.f1, "precision": each.precision, "recall": each.recall, "true": each.true}


def measure_calibration(comparison: Comparison) -> dict[str, Any]:
    """The reliability of the probabilities of each level on the test film, and their error."""
    film = comparison.films["test"]
    timeline = comparison.timeline("test", Selection(probability=0.0))
    results: dict[str, Any] = {}
    for level in timeline.reported_levels:
        events = timeline.events(level)
        p = np.array([event.probability for event in events], dtype=np.float64)
        times = np.array([float(event.time) for event in events])
        true = targets(film, level, timeline.levels)
        results[str(level)] = calibration(p, first_hits(times, p, true))._asdict() | {
            "missed": len(true) - len({inside(float(t), true) for t in times} - {None}),
        }
    return results


def _printer(what: str) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        if done % max(total // 20, 1) == 0:
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    main()
