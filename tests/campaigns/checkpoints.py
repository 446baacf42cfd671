"""Mutated checkpoints, configurations and timelines, a third of the cases each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from tests.campaigns.campaign import Failure, Result, command, inside, run_cases
from tests.campaigns.hostile import Random, changed_bytes, changed_json, changed_tensor, chosen
from tests.conftest import tiny_run
from tests.segmenting.made import event, timeline
from vpr import Stream, Timeline
from vpr.pretrained import data_for, load_model
from vpr.segmenting.batch import write_files
from vpr.training.checkpoint import RunFolder, save_checkpoint
from vpr.training.loop import train

CONFIG = tiny_run(steps=6)
MARKUP = "<img src=x"
NAMES = ("training.safetensors", "previous.safetensors")


def checkpoint(number: int, rng: Random, folder: Path, run: Path) -> str:
    """A run with a changed checkpoint is refused or resumed; with another one, it is resumed."""
    here = folder / "run"
    shutil.copytree(run, here)
    path = here / "training.safetensors"
    if rng.random() < 0.3:
        path.write_bytes(changed_bytes(rng, path.read_bytes()))
    else:
        tensors, notes = RunFolder(here).load()
        for name in [chosen(rng, sorted(tensors)) for _ in range(int(rng.integers(1, 4)))]:
            tensors[name] = changed_tensor(rng, tensors[name])
        if rng.random() < 0.3:
            tensors.pop(chosen(rng, sorted(tensors)))
        if rng.random() < 0.4:
            text = changed_json(rng, notes)
            try:
                notes = json.loads(text)
            except (ValueError, RecursionError):
                notes = {"step": text}
        save_checkpoint(path, RunFolder(here).load()._replace(tensors=tensors, notes=notes))
    if rng.random() < 0.3:
        log = here / "metrics.jsonl"
        log.write_bytes(changed_bytes(rng, log.read_bytes()))
    fallback = rng.random() < 0.5
    if not fallback:
        (here / "previous.safetensors").unlink()
    try:
        outcome = train(CONFIG, here, until=5)
    except ValueError:
        if fallback:
            raise Failure("the previous checkpoint was not used") from None
        raise
    inside(folder, {"run"})
    return f"resumed at step {outcome.step}" if outcome.step != 5 else "resumed"


def configuration(number: int, rng: Random, folder: Path, run: Path) -> str:
    """A model with a changed configuration or weights is refused, or works."""
    here = folder / "model"
    here.mkdir()
    weights = (run / "model.safetensors").read_bytes()
    text = changed_json(rng, json.loads((run / "config.json").read_text()))
    (here / "config.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    if rng.random() < 0.2:
        weights = changed_bytes(rng, weights)
    (here / "model.safetensors").write_bytes(weights)
    model = load_model(here)
    data = data_for(here)
    if any(getattr(data, name, "") for name in ("path", "cache", "file")):
        raise Failure("the model chose a path")
    stream = Stream(model)
    for _ in range(3):
        stream.push(torch.rand(model.config.frame))
    inside(folder, {"model"})
    return "loaded"


def events(number: int, rng: Random, folder: Path, made: Path) -> str:
    """A changed timeline is refused, or exported without markup and without leaving its folder."""
    text = changed_json(rng, json.loads(made.read_text()))
    path = folder / "changed.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    read = Timeline.from_json(path)
    files = write_files(read, folder / "out" / "name")
    if MARKUP in read._repr_html_() or any(MARKUP in each.read_text() for each in files[2:]):
        raise Failure("text became markup")
    inside(folder, {"changed.json", "out"})
    return "exported"


def run(count: int, seed: int) -> Result:
    with TemporaryDirectory(prefix="campaign-") as folder:
        base = Path(folder)
        train(CONFIG, base / "run", until=4)
        made = base / "timeline.json"
        timeline([event(3), event(9, level=3), event(20)], frames=40).to_json(made)

        def case(number: int, rng: Random, folder: Path) -> str:
            if number % 3 == 0:
                return checkpoint(number, rng, folder, base / "run")
            if number % 3 == 1:
                return configuration(number, rng, folder, base / "run")
            return events(number, rng, folder, made)

        return run_cases(count, seed, case)


def main(argv: Sequence[str] | None = None) -> int:
    return command("checkpoints", 10_000, run, argv)


if __name__ == "__main__":
    raise SystemExit(main())
