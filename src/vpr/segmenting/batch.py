"""Many pieces of footage in one run: each is done, was finished or failed; none stops the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from vpr.errors import VPRError
from vpr.model import VPR
from vpr.pretrained import fingerprint, load_model
from vpr.segmenting.completed import Stamps
from vpr.segmenting.fitting import fit_for
from vpr.segmenting.segment import Watch, as_gap, as_source, reported, segment
from vpr.segmenting.segmenter import check_watches, with_threshold
from vpr.segmenting.sweep import sweep
from vpr.segmenting.targets import Target
from vpr.segmenting.timeline import Timeline
from vpr.utils.files import why
from vpr.video.fit import Fit, Mode

Status = Literal["done", "skipped", "damaged", "failed"]


@dataclass(frozen=True)
class Wish:
    """What is to be made of each piece."""

    model: str
    out: Path
    threshold: float | None = None
    levels: tuple[int, ...] | None = None
    min_gap: float = 0.0
    fit: Mode | None = None
    rate: float | None = None
    sweep: bool = False

    def checked(self) -> VPR:
        """The model; what is wrong with the settings is told once, before any footage is read."""
        model = with_threshold(load_model(self.model), self.threshold)
        check_watches(model)
        Fit.to(model.config.frame, self.fit or fit_for(self.model))
        reported(self.levels, model.config.levels)
        as_gap(self.min_gap)
        return model

    def stamps(self, model: VPR) -> Stamps:
        """The same wish of the same weights makes the same files."""
        settings = {k: v for k, v in asdict(self).items() if k not in ("model", "out", "sweep")}
        settings["levels"] = list(self.levels) if self.levels else None
        settings["fit"] = self.fit or fit_for(self.model)
        made_by = {"model": fingerprint(model), **settings}
        return Stamps(self.out, made_by, "sweep" if self.sweep else "events")


@dataclass(frozen=True)
class Outcome:
    """Of one piece. A damaged one was read as far as it could be, and has its files."""

    source: str
    status: Status
    frames: int = 0
    seconds: float = 0.0
    events: dict[str, Any] = field(default_factory=dict)  # of each level
    files: tuple[str, ...] = ()
    trouble: str | None = None

    @property
    def well(self) -> bool:
        return self.status in ("done", "skipped") and self.trouble is None


def finished(targets: Sequence[Target], stamps: Stamps) -> Iterator[Outcome]:
    """Of those that need not be done again; what was broken then is told again."""
    for target in targets:
        summary = stamps.summary(target)
        if summary is not None:
            yield Outcome(**{**summary, "status": "skipped", "files": tuple(summary["files"])})


def carry_out(target: Target, wish: Wish, model: VPR, stamps: Stamps, watch: Watch) -> Outcome:
    """One piece, with its files and its stamp; whatever is wrong with it is told, not raised."""
    try:
        make = _swept if wish.sweep else _segmented
        outcome = make(target, wish, model, watch)
        stamps.write(target, list(outcome.files), asdict(outcome))
    except VPRError as error:
        return Outcome(target.source, "failed", trouble=str(error))
    except OSError as error:
        return Outcome(target.source, "failed", trouble=f"{target.source}: {why(error)}")
    except MemoryError:
        return Outcome(target.source, "failed", trouble=f"{target.source} does not fit into memory")
    return outcome


def _segmented(target: Target, wish: Wish, model: VPR, watch: Watch) -> Outcome:
    timeline = segment(
        target.source,
        model,
        threshold=wish.threshold,
        levels=wish.levels,
        min_gap=wish.min_gap,
        fit=wish.fit or fit_for(wish.model),
        rate=wish.rate,
        watch=watch,
    )
    timeline = replace(timeline, model=wish.model)
    files = write_files(timeline, wish.out / target.name)
    return Outcome(
        target.source,
        "damaged" if timeline.trouble else "done",
        timeline.frames,
        float(timeline.end - timeline.start),
        {str(level): len(timeline.events(level)) for level in timeline.reported},
        _relative(files, wish.out),
        timeline.trouble,
    )


def _swept(target: Target, wish: Wish, model: VPR, watch: Watch) -> Outcome:
    from vpr.segmenting.sweep_files import write_sweep

    fit = Fit.to(model.config.frame, wish.fit or fit_for(wish.model))
    source = as_source(target.source, fit, wish.rate)
    swept = sweep(source, model, fit, watch=watch)
    trouble = getattr(source, "trouble", None)
    counts = {str(level): [int(n) for n in each] for level, each in swept.events.items()}
    return Outcome(
        target.source,
        "damaged" if trouble else "done",
        swept.frames,
        swept.seconds,
        {"gammas": list(swept.gammas), **counts},
        _relative(write_sweep(wish.out / target.name, swept), wish.out),
        trouble,
    )


def write_files(timeline: Timeline, stem: Path) -> list[Path]:
    """All that there is of a piece, its endings added to `stem`."""
    table, whole, page, chapters, metadata = (
        stem.with_name(f"{stem.name}.{kind}") for kind in ("csv", "json", "html", "vtt", "ffmeta")
    )
    timeline.to_csv(table)
    timeline.to_json(whole)
    timeline.to_html(page)
    return [table, whole, page, *timeline.to_webvtt(chapters), *timeline.to_ffmetadata(metadata)]


def _relative(paths: Sequence[Path], out: Path) -> tuple[str, ...]:
    return tuple(str(path.relative_to(out)) for path in paths)
