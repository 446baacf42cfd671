"""Segment many pieces of footage. A piece that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from vpr.errors import VPRError
from vpr.executors.claims import Claimed, claimed, run_claimed
from vpr.executors.executor import Executor, Failed, OnProgress, Report, Run
from vpr.model import VPR
from vpr.pretrained import calibration_of, fingerprint, load_model
from vpr.segmenting.completed import CompletedFiles
from vpr.segmenting.exports import write_exports
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.output_names import Target
from vpr.segmenting.segment import OnProgress as OnFrames
from vpr.segmenting.segment import (
    as_gap,
    check_levels,
    fit_for,
    levels_to_report,
    segment,
    with_threshold,
)
from vpr.segmenting.selection import Selection
from vpr.segmenting.sweep import sweep
from vpr.segmenting.timeline import Timeline
from vpr.utils.files import error_reason
from vpr.video.fit import Mode
from vpr.video.rates import Rate, as_rate

Status = Literal["done", "skipped", "damaged", "failed", "elsewhere"]


@dataclass(frozen=True)
class SegmentRequest:
    """The settings of one `vpr segment` command, the same for all pieces of footage."""

    model: str
    out: Path
    threshold: float | None = None
    levels: tuple[int, ...] | None = None
    min_gap: float = 0.0
    fit: Mode | None = None
    rate: Rate | None = None
    sweep: bool = False
    selection: Selection = field(default_factory=Selection)
    export: tuple[str, ...] = ()  # of `vpr.segmenting.exports.FORMATS`

    def load(self) -> VPR:
        """The model. Checks all settings, so that errors are reported before footage is read."""
        model = with_threshold(load_model(self.model), self.threshold)
        check_levels(model)
        ModelInput(model, self.fit or fit_for(self.model))
        levels_to_report(self.levels, model.config.levels)
        as_gap(self.min_gap)
        as_rate(self.rate)
        self.selection.check(calibration_of(model))
        return model

    def completed(self, model: VPR) -> CompletedFiles:
        """The record of files that were written with these settings and weights."""
        left_out = ("model", "out", "sweep", "export")
        settings = {k: v for k, v in asdict(self).items() if k not in left_out}
        settings["levels"] = list(self.levels) if self.levels else None
        settings["fit"] = self.fit or fit_for(self.model)
        if self.export:
            settings["export"] = sorted(self.export)
        calibration = calibration_of(model)
        probabilities = calibration.digest() if calibration else None
        made_by = {"model": fingerprint(model), "calibration": probabilities, **settings}
        return CompletedFiles(self.out, made_by, "sweep" if self.sweep else "events")


@dataclass(frozen=True)
class Outcome:
    """The result of one piece. For a damaged piece, files of the part that can be read are written.

    A piece with status `elsewhere` is being segmented by another process.
    """

    source: str
    status: Status
    frames: int = 0
    seconds: float = 0.0
    events: dict[str, Any] = field(default_factory=dict)  # level → count
    files: tuple[str, ...] = ()
    problem: str | None = None  # description of damage, in one line
    undecodable: int = 0  # frames that could not be decoded
    warnings: tuple[str, ...] = ()  # why the events should not be trusted

    @property
    def ok(self) -> bool:
        return self.status in ("done", "skipped", "elsewhere") and self.problem is None

    def as_json(self) -> dict[str, Any]:
        """JSON types; the problem has the key `trouble`."""
        fields = asdict(self)
        return {"trouble" if name == "problem" else name: fields[name] for name in fields}

    @classmethod
    def from_json(cls, fields: dict[str, Any], status: Status) -> Outcome:
        """Restore an outcome from the result of `as_json`, with another status."""
        others = {name: value for name, value in fields.items() if name != "trouble"}
        changed = {"status": status, "problem": fields["trouble"]}
        changed |= {key: tuple(fields.get(key, ())) for key in ("files", "warnings")}
        return cls(**(others | changed))


def skipped(targets: Sequence[Target], completed: CompletedFiles) -> Iterator[Outcome]:
    """The recorded outcomes of the targets that are already complete."""
    for target in targets:
        outcome = _completed_outcome(target, completed)
        if outcome is not None:
            yield outcome


def _completed_outcome(target: Target, completed: CompletedFiles) -> Outcome | None:
    summary = completed.summary(target)
    outcome = None if summary is None else _parse_outcome(summary)
    return outcome if outcome is not None and outcome.source == target.source else None


def _parse_outcome(summary: dict[str, Any]) -> Outcome | None:
    """The outcome in a record of finished files; None if it is not one."""
    try:
        done = Outcome.from_json(summary, "skipped")
    except (KeyError, TypeError):
        return None
    types = {"source": str, "frames": int, "seconds": float, "events": dict}
    right = all(type(getattr(done, name)) is kind for name, kind in types.items())
    right = right and all(isinstance(each, str) for each in done.warnings)
    return done if right and isinstance(done.problem, str | None) else None


def run_targets(
    targets: Sequence[Target],
    request: SegmentRequest,
    executor: Executor,
    on_progress: OnProgress,
    *,
    force: bool = False,
) -> Iterator[tuple[int, Outcome]]:
    """Segment all targets that no other process has claimed, and yield their index and outcome.

    With `force`, also targets that another process has finished in the meantime.
    """
    setup = partial(_Setup, request, force)
    for end in run_claimed(executor, targets, setup, on_progress):
        source = targets[end.task].source
        if isinstance(end, Failed):
            yield end.task, Outcome(source, "failed", problem=f"{source}: {end.message}")
        elif end.result is Claimed.ELSEWHERE:
            yield end.task, Outcome(source, "elsewhere")
        else:
            yield end.task, end.result


@dataclass(frozen=True)
class _Setup:
    """Loads the model once per process."""

    request: SegmentRequest
    force: bool
    timeout: float  # for claims

    def __call__(self) -> Run:
        model = self.request.load()
        completed = self.request.completed(model)

        def run(target: Target, report: Report) -> Outcome | Claimed:
            with claimed(completed.claim(target), self.timeout) as mine:
                if not mine:
                    return Claimed.ELSEWHERE
                found = None if self.force else _completed_outcome(target, completed)
                return found or _run_target(self.request, model, completed, target, report)

        return run


def _run_target(
    request: SegmentRequest, model: VPR, completed: CompletedFiles, target: Target, report: Report
) -> Outcome:
    """Segment one piece and write its files; errors become a failed outcome."""

    def on_progress(done: int, expected: int | None) -> None:
        report(done, expected, "frames")

    try:
        completed.check_unchanged(target)  # now, and not only after minutes of work
        make = _sweep if request.sweep else _segment
        outcome = make(target, request, model, completed, on_progress)
        completed.write(target, list(outcome.files), outcome.as_json())
    except VPRError as error:
        return Outcome(target.source, "failed", problem=str(error))
    except OSError as error:
        return Outcome(target.source, "failed", problem=f"{target.source}: {error_reason(error)}")
    except MemoryError:
        return Outcome(target.source, "failed", problem=f"{target.source} does not fit into memory")
    except Exception as error:  # a bug in vpr, which must not stop the others
        reason = f"{type(error).__name__}: {error}"
        problem = f"{target.source} failed with {reason}: please report this as a bug of vpr"
        return Outcome(target.source, "failed", problem=problem)
    return outcome


def _segment(
    target: Target,
    request: SegmentRequest,
    model: VPR,
    completed: CompletedFiles,
    on_progress: OnFrames,
) -> Outcome:
    timeline = segment(
        target.source,
        model,
        threshold=request.threshold,
        levels=request.levels,
        min_gap=request.min_gap,
        selection=request.selection,
        fit=request.fit,
        rate=request.rate,
        on_progress=on_progress,
        name=request.model,
    )
    completed.start_writing(target)
    files = write_files(timeline, request.out / target.name)
    files += write_exports(timeline, request.out / target.name, request.export)
    return Outcome(
        target.source,
        "damaged" if timeline.problem else "done",
        timeline.frames,
        float(timeline.end - timeline.start),
        {str(level): len(timeline.events(level)) for level in timeline.reported_levels},
        _relative(files, request.out),
        timeline.problem,
        timeline.undecodable,
        timeline.warnings,
    )


def _sweep(
    target: Target,
    request: SegmentRequest,
    model: VPR,
    completed: CompletedFiles,
    on_progress: OnFrames,
) -> Outcome:
    from vpr.segmenting.sweep import write_sweep

    inputs = ModelInput(model, request.fit or fit_for(request.model))
    source = inputs.open(target.source, request.rate)
    swept = sweep(source, model, on_progress=on_progress)
    problem = getattr(source, "problem", None)
    completed.start_writing(target)
    counts = {str(level): [int(n) for n in each] for level, each in swept.events.items()}
    return Outcome(
        target.source,
        "damaged" if problem else "done",
        swept.frames,
        swept.seconds,
        {"gammas": list(swept.gammas), **counts},
        _relative(write_sweep(request.out / target.name, swept), request.out),
        problem,
        getattr(source, "undecodable", 0),
    )


def write_files(timeline: Timeline, stem: Path) -> list[Path]:
    """Write the timeline in all formats; the paths are `stem` with suffixes."""
    table, whole, page, chapters, metadata = (
        stem.with_name(f"{stem.name}.{kind}") for kind in ("csv", "json", "html", "vtt", "ffmeta")
    )
    timeline.to_csv(table)
    timeline.to_json(whole)
    timeline.to_html(page)
    return [table, whole, page, *timeline.to_webvtt(chapters), *timeline.to_ffmetadata(metadata)]


def _relative(paths: Sequence[Path], out: Path) -> tuple[str, ...]:
    return tuple(str(path.relative_to(out)) for path in paths)
