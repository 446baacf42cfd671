"""A training run as experiments see it: trained once, looked at on the way, evaluated at the end.

Experiments that share a setting share its run folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.evaluation import evaluate
from vpr.experiments.runner.base import Advance, Measured, Stopped
from vpr.experiments.runner.inspect_training import look_at
from vpr.experiments.runner.store import seeded
from vpr.experiments.shared.truth import labelled
from vpr.pretrained import load_model
from vpr.training.checkpoint import RunFolder
from vpr.training.loop import Progress, train
from vpr.training.metrics import StepLog
from vpr.training.session import Session
from vpr.utils.config_json import to_dict
from vpr.utils.files import read_json, write_json
from vpr.utils.provenance import provenance

RECORD, LOOKS = "record.json", "looks.jsonl"
DIGITS = 8  # of a setting's digest, in the name of its folder
EVERY = 50  # steps from one look to the next
GOOD = 0.95  # the F1 whose time is taken
Record = dict[str, Any]  # "evaluation", "looks", "time_to_f1", "seconds", "provenance"
Look = dict[str, Any]  # "step", "seconds", "stage", "levels"


def trained(
    pick: Callable[[Record], dict[str, Any]], every: int = EVERY
) -> Callable[[RunConfig, int, Path, Advance], Measured]:
    """`measure` of an experiment whose runs are trainings: `pick` takes its metrics of a record.

    `every` so many steps the model is looked at.
    """

    def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
        record, _ = finish(seeded(config, seed), runs, advance, every)
        return Measured(pick(record), record["seconds"], record["provenance"])

    return measure


def finish(
    config: RunConfig, runs: Path, advance: Advance, every: int = EVERY
) -> tuple[Record, Path]:
    """The record of a run and its folder: of the finished one if it is there, or trained now."""
    folder = run_folder(config, runs, every)
    return _record(config, folder, advance, every), folder


def run_folder(config: RunConfig, runs: Path, every: int = EVERY) -> Path:
    """Where the run of a setting is, or will be.

    A run that is older than a field of the configuration has another name, and is the same.
    """
    usual = runs / folder_name(config, every)
    if usual.exists():
        return usual
    others = sorted(runs.glob(_name(config, "?" * DIGITS, every)))
    return next((folder for folder in others if _holds(folder, config)), usual)


def _holds(folder: Path, config: RunConfig) -> bool:
    try:
        return RunFolder(folder).config() == config
    except VPRError:  # of another version, or no run at all
        return False


def folder_name(config: RunConfig, every: int = EVERY) -> str:
    """Tells settings apart that differ in anything at all."""
    digest = hashlib.sha256(json.dumps(to_dict(config), sort_keys=True).encode()).hexdigest()
    return _name(config, digest[:DIGITS], every)


def _name(config: RunConfig, digest: str, every: int) -> str:
    looked = "" if every == EVERY else f"-every{every}"
    return f"{config.preset.replace('/', '-')}-{digest}{looked}-s{config.seed}"


def _record(config: RunConfig, folder: Path, advance: Advance, every: int) -> Record:
    if (folder / RECORD).exists():
        return read_json(folder / RECORD)  # type: ignore[no-any-return]
    looking = Looking(folder, every)
    outcome = train(config, folder, on_step=_watch(advance), inspect=looking)
    looking.close()
    if not outcome.finished:
        raise Stopped
    looks = [json.loads(line) for line in (folder / LOOKS).read_text().splitlines()]
    record = {
        "evaluation": evaluate(load_model(folder), labelled(config.data)),
        "looks": looks,
        "time_to_f1": {level: time_to_f1(looks, level) for level in looks[-1]["levels"]},
        "seconds": looks[-1]["seconds"],
        "provenance": provenance(),
    }
    write_json(folder / RECORD, record)
    return record


def steps(record: Record) -> list[int]:
    """At which it was looked at."""
    return [look["step"] for look in record["looks"]]


def time_to_f1(looks: Sequence[Look], level: str, good: float = GOOD) -> dict[str, float] | None:
    """Step and seconds of the first look from which on the level's F1 is `good` or more.

    None if the last look has less, or the data has no labels. The seconds include the looks.
    """
    lasting = list(
        takewhile(lambda look: look["levels"][level].get("f1", 0.0) >= good, reversed(looks))
    )
    return {name: lasting[-1][name] for name in ("step", "seconds")} if lasting else None


class Looking:
    """Writes down what `look_at` sees, every so many steps and at the last one."""

    def __init__(self, folder: Path, every: int) -> None:
        self.path, self.every = folder / LOOKS, every
        self.log: StepLog | None = None
        self.start = perf_counter()

    def __call__(self, session: Session) -> None:
        if self.log is None:
            self.log = StepLog(self.path, session.step - 1)
            self.start -= self._seconds_before()
        if session.step % self.every == 0 or session.step == session.last():
            before = session.step - 1  # the step that was just done
            levels = look_at(session.model, session.rule_at(before), session.config.data)
            seconds, stage = perf_counter() - self.start, session.stage(before).name
            self.log.push(
                {"step": session.step, "seconds": seconds, "stage": stage, "levels": levels}
            )

    def _seconds_before(self) -> float:
        """Of earlier sittings, as far as their work was kept."""
        lines = self.path.read_text().splitlines()
        return float(json.loads(lines[-1])["seconds"]) if lines else 0.0

    def close(self) -> None:
        if self.log is not None:
            self.log.close()


def _watch(advance: Advance) -> Callable[[Progress], None]:
    def watch(now: Progress) -> None:
        rates = " ".join(f"{rate:.2f}" for rate in now.update_rate)
        advance(now.step, now.steps, f"{now.stage}: loss {now.loss:.1f} updates {rates}")

    return watch
