"""Make and measure the footage model: `python -m vpr.experiments.footage.build FOLDER`.

Downloads the clips, makes the films, trains `cpu/vectors` on frozen features of the training film,
fits the probabilities, and compares the model with other detectors on the test film, whose clips
were not used before. Existing files in FOLDER are used again. Results: FOLDER/results.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from vpr.data import Vectors
from vpr.evaluation import calibration
from vpr.evaluation.matching import MatchCounts
from vpr.experiments.footage.calibrate import (
    calibrate,
    first_hits,
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
from vpr.experiments.footage.real_clips import fetch
from vpr.features.extract import Extracted, extract
from vpr.presets import preset
from vpr.pretrained import CALIBRATION, PretrainedVPR, fingerprint, load_model
from vpr.segmenting.segment import segment
from vpr.segmenting.selection import Selection
from vpr.training.loop import train
from vpr.utils.files import read_json, write_json
from vpr.utils.threads import use_threads

Signal = tuple[Scores, Scores]  # scores and times of all frames
HELD_OUT = 0.4  # share of the training film that calibrates
FEATURES = "efficientnet-lite0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=preset("cpu/vectors").training.steps)
    parser.add_argument("--detectors", default="", help="Only these, with commas. [all]")
    arguments = parser.parse_args()
    use_threads(1)
    folder: Path = arguments.folder
    fetch(folder / "clips", _printer("packages"))
    films = {
        name: load_or_make(plan, folder / "clips", folder / "films", _printer(f"film {name}"))
        for name, plan in FILMS.items()
    }
    run = folder / "run"
    model = trained(run, films["training"], arguments.steps)
    detectors = all_detectors(model, films, folder)
    wanted = arguments.detectors.split(",") if arguments.detectors else list(detectors)
    path = folder / "results.json"
    results = read_json(path) if path.exists() else {}
    for name in wanted:
        start = process_time()
        found = detectors[name]()
        results[name] = measured(found, films["test"]) | {"cpu_seconds": process_time() - start}
        print(name, results[name], file=sys.stderr)
        write_json(path, results)
    results["calibration"] = measure_calibration(model, films["test"])
    write_json(path, results)


def trained(run: Path, film: FilmFile, steps: int) -> PretrainedVPR:
    """The calibrated model in the folder `run`, which is trained if necessary."""
    data = Vectors(str(film.path), features=FEATURES, held_out=HELD_OUT)
    data.prepare(_printer("features"))
    config = preset("cpu/vectors").with_data(data)
    config = replace(config, training=replace(config.training, steps=steps))
    train(config, run, on_step=lambda now: _printer("steps")(now.step, now.steps))
    model = load_model(run)
    if model.calibration is None:
        timeline = segment(str(extract(film.path, FEATURES).path), model)  # all events
        calibrate(timeline, film, HELD_OUT).save(run / CALIBRATION, fingerprint(model))
        model = load_model(run)
    return model


def all_detectors(
    model: PretrainedVPR, films: dict[str, FilmFile], folder: Path
) -> dict[str, Callable[[], list[float]]]:
    """Each detector as a function that returns times on the test film."""
    training, test = films["training"], films["test"]
    duration, count = test.frames / 25, len(test.boundaries)

    def ours(level: int) -> list[float]:
        timeline = segment(str(extract(test.path, FEATURES).path), model)
        return [float(event.time) for event in timeline.events(level)]

    def of_jumps() -> list[float]:
        return _thresholded(_feature_jumps(model, training), _feature_jumps(model, test), training)

    def of_pixels() -> list[float]:
        known, new = frame_differences(training.path), frame_differences(test.path)
        return _thresholded(known, new, training)

    levels = range(2, model.config.levels + 1)
    return {f"VPR level {n}": lambda n=n: ours(n) for n in levels} | {
        "PySceneDetect content": lambda: scene_cuts(test.path, "ContentDetector"),
        "PySceneDetect adaptive": lambda: scene_cuts(test.path, "AdaptiveDetector"),
        "TransNetV2": lambda: transnet(test.path),
        "ruptures": lambda: _ruptures(model, training, test),
        "feature jumps": of_jumps,
        "frame difference": of_pixels,
        "periodic": lambda: periodic(count, duration),
        "random": lambda: random(count, duration),
    }


def _thresholded(training: Signal, test: Signal, film: FilmFile) -> list[float]:
    """Peaks of the test scores above the threshold with the best F1 on the training film."""
    scores, times = training
    threshold = best_threshold(scores, times, lambda found: tally(found, film.spans()).f1)
    return peaks(test[0], test[1], threshold, MIN_GAP)


def _inputs(model: PretrainedVPR, film: FilmFile) -> tuple[Any, Any]:
    extracted: Extracted = extract(film.path, FEATURES)
    assert model.preprocessing is not None
    return model.preprocessing(np.load(extracted.path)), np.load(extracted.times)


def _feature_jumps(model: PretrainedVPR, film: FilmFile) -> tuple[Any, Any]:
    vectors, times = _inputs(model, film)
    return jumps(vectors), times


def _ruptures(model: PretrainedVPR, training: FilmFile, test: FilmFile) -> list[float]:
    """Change points of the features, with the penalty that finds the true number in training."""
    penalty = choose_penalty(_inputs(model, training)[0], len(training.boundaries))
    vectors, times = _inputs(model, test)
    return [float(times[place]) for place in change_points(vectors, penalty)]


def measured(found: list[float], film: FilmFile) -> dict[str, Any]:
    """F1, precision and recall for cuts, and for all transitions; what else was found."""
    cuts = tally(found, film.spans("cut"), film.spans("dissolve", "fade"))
    every = tally(found, film.spans())
    inner = targets(film, 2, 3)
    return {
        "cuts": _as_json(cuts),
        "all": _as_json(every),
        "dissolves": _as_json(tally(found, film.spans("dissolve"))) | {"precision": None},
        "fades": _as_json(tally(found, film.spans("fade"))) | {"precision": None},
        "with distractors": _as_json(tally(found, inner)),
        "found": len(found),
    }


def _as_json(each: MatchCounts) -> dict[str, Any]:
    return {"f1": each.f1, "precision": each.precision, "recall": each.recall, "true": each.true}


def measure_calibration(model: PretrainedVPR, film: FilmFile) -> dict[str, Any]:
    """The reliability of the probabilities of each level on a film, and their error."""
    start = perf_counter()
    source = str(extract(film.path, FEATURES).path)
    timeline = segment(source, model, selection=Selection(probability=0.0))
    results: dict[str, Any] = {"seconds": perf_counter() - start, "film": film.frames / 25}
    for level in timeline.reported_levels:
        events = timeline.events(level)
        p = np.array([event.probability for event in events], dtype=np.float64)
        times = np.array([float(event.time) for event in events])
        true = targets(film, level, timeline.levels)
        hits = first_hits(times, p, true)
        results[f"level {level}"] = calibration(p, hits)._asdict() | {
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
