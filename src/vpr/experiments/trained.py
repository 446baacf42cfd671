"""A training run as experiments see it: trained once, looked at on the way, evaluated at the end.

Experiments that share a setting share its run folder.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from vpr.checkpoint import METRICS, TRAINING, RunFolder, load_model, save_checkpoint
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.evaluation import evaluate
from vpr.experiments.base import Advance, Measured, Stopped
from vpr.experiments.look import look_at
from vpr.experiments.store import seeded
from vpr.files import read_json, write_atomically, write_json
from vpr.metrics import StepLog
from vpr.serial import to_dict
from vpr.session import Session
from vpr.training import Progress, rule_in_force, train

RECORD, LOOKS = "record.json", "looks.jsonl"
BRANCH = "before-ce.safetensors"  # the checkpoint from which on CE makes a difference
DIGITS = 8  # of a setting's digest, in the name of its folder
EVERY = 50  # steps from one look to the next
Record = dict[str, Any]  # "evaluation", "looks", "settled", "seconds"


def trained(
    pick: Callable[[Record], dict[str, Any]], every: int = EVERY
) -> Callable[[RunConfig, int, Path, Advance], Measured]:
    """`measure` of an experiment whose runs are trainings: `pick` takes its metrics of a record.

    `every` so many steps the model is looked at.
    """

    def measure(config: RunConfig, seed: int, runs: Path, advance: Advance) -> Measured:
        record, _ = finish(seeded(config, seed), runs, advance, every)
        return Measured(pick(record), record["seconds"])

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
    if not folder.exists():
        _branch_off(config, folder, every)
    looking = Looking(folder, every)
    outcome = train(config, folder, watch=_watch(advance), look=looking)
    looking.close()
    if not outcome.finished:
        raise Stopped
    looks = [json.loads(line) for line in (folder / LOOKS).read_text().splitlines()]
    record = {
        "evaluation": evaluate(load_model(folder), config.data),
        "looks": looks,
        "settled": outcome.settled,
        "seconds": looks[-1]["seconds"] + outcome.rehearsed,
    }
    write_json(folder / RECORD, record)
    return record


def steps(record: Record) -> list[int]:
    """At which it was looked at."""
    return [look["step"] for look in record["looks"]]


def _branch_off(config: RunConfig, folder: Path, every: int) -> None:
    """Until CE may decide, a run without CE is the run with it: go on from there if it is here."""
    twin = replace(config, model=replace(config.model, expected=True))
    origin = run_folder(twin, folder.parent, every)
    if not config.model.unexpected or not (origin / BRANCH).exists():
        return
    RunFolder(folder).claim(config)
    shutil.copy(origin / LOOKS, folder / LOOKS)
    shutil.copy(origin / METRICS, folder / METRICS)
    copy = partial(shutil.copy, origin / BRANCH)
    write_atomically(folder / TRAINING, copy)


class Looking:
    """Writes down what `look_at` sees, every so many steps and at the last one."""

    def __init__(self, folder: Path, every: int) -> None:
        self.folder, self.path, self.every = folder, folder / LOOKS, every
        self.log: StepLog | None = None
        self.start = perf_counter()

    def __call__(self, session: Session) -> None:
        if self.log is None:
            self.log = StepLog(self.path, session.step - 1)
            self.start -= self._seconds_before()
        if session.step % self.every == 0 or session.step == session.last():
            rule = rule_in_force(session.rule, session.weights(back=1))
            levels = look_at(session.model, rule, session.config.data)
            seconds = perf_counter() - self.start
            self.log.push({"step": session.step, "seconds": seconds, "levels": levels})
        if _may_be_branched_off(session):
            save_checkpoint(self.folder / BRANCH, session.checkpoint())

    def _seconds_before(self) -> float:
        """Of earlier sittings, as far as their work was kept."""
        lines = self.path.read_text().splitlines()
        return float(json.loads(lines[-1])["seconds"]) if lines else 0.0

    def close(self) -> None:
        if self.log is not None:
            self.log.close()


def _may_be_branched_off(session: Session) -> bool:
    """The next step is the first at which it matters that the rule has CE beside CU."""
    model = session.config.model
    begins = session.weights().expected and not session.weights(back=1).expected
    return begins and model.expected and model.unexpected


def _watch(advance: Advance) -> Callable[[Progress], None]:
    def watch(now: Progress) -> None:
        rates = " ".join(f"{rate:.2f}" for rate in now.update_rate)
        note = f"loss {now.loss:.1f} updates {rates}" if rates else "the top level rehearses"
        advance(now.step, now.steps, note)

    return watch
