"""The number of events for many values of γ, in one pass over the footage: table and figure."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.errors import VPRError
from vpr.events import Decision, Subjective
from vpr.model import VPR
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.segment import CHUNK, OnProgress, check_levels, threshold_rule, with_rule
from vpr.utils.figures import GREY, OTHERS, panels, require_matplotlib
from vpr.utils.files import write_bytes, write_text
from vpr.video import Frame, Source

STEPS = range(-3, 10)  # thirds of an octave around the model's γ: from half of it to 8 times


@dataclass(frozen=True)
class Sweep:
    """The number of events of each level for each γ."""

    source: str
    gammas: tuple[float, ...]
    model_gamma: float  # γ of the model
    frames: int
    seconds: float
    events: dict[int, NDArray[np.int64]]  # level → (gammas,)


@dataclass(frozen=True)
class RuleSweep:
    """The model's rule with another γ for each row of the batch."""

    rule: Subjective  # with γ = 1
    gammas: Tensor  # (B,)
    window: int

    def decide(
        self, level: int, time: Tensor, kl_static: Tensor, kl_change: Tensor, typical_kl: Tensor
    ) -> Decision:
        return self.rule.decide(level, time, kl_static, kl_change, self.gammas * typical_kl)


def gammas_around(gamma: float) -> tuple[float, ...]:
    return tuple(gamma * 2 ** (step / 3) for step in STEPS)


@torch.inference_mode()
def sweep(
    source: Source,
    model: VPR,
    gammas: Sequence[float] | None = None,
    on_progress: OnProgress | None = None,
) -> Sweep:
    """Run the model once per γ, as rows of one batch; frames are encoded once."""
    check_levels(model)
    rule = threshold_rule(model)
    gammas = tuple(gammas if gammas is not None else gammas_around(rule.gamma))
    each = torch.tensor(gammas, device=model.device, dtype=model.dtype)
    rule_sweep = RuleSweep(replace(rule, gamma=1.0), each, rule.window)
    model, inputs = with_rule(model, rule_sweep), ModelInput(model)
    state = model.initial(len(gammas))
    counted = torch.zeros(model.config.levels, len(gammas), dtype=torch.long)
    frames, first, last, done = iter(source), None, None, 0
    while chunk := [_prepared(frame, inputs) for frame in islice(frames, CHUNK)]:
        x = model.encodings(inputs([picture for picture, _ in chunk]).unsqueeze(0))
        state, evidence = model.detect(state, [_for_each(read, len(gammas)) for read in x], None)
        counted += torch.stack([level.boundary.sum(1).cpu() for level in evidence])
        first, last = first if done else chunk[0][1], chunk[-1][1]
        done += len(chunk)
        if on_progress is not None:
            on_progress(done, source.expected)
    if first is None or last is None:
        raise VPRError(f"{source.name} has no frames")
    counted -= 1  # at the first frame every level updates, which is not a boundary
    events = {level: counted[level - 1].numpy() for level in range(2, model.config.levels + 1)}
    return Sweep(source.name, gammas, rule.gamma, done, last - first, events)


def _prepared(frame: Frame, inputs: ModelInput) -> tuple[NDArray[np.uint8], float]:
    """The fitted picture and time of a frame, without the large original."""
    return inputs.fitted(frame.picture), float(frame.time)


def _for_each(read: Tensor, count: int) -> Tensor:
    return read.expand(count, -1, -1)


def write_sweep(stem: Path, sweep: Sweep) -> list[Path]:
    """Write NAME.sweep.csv and NAME.sweep.png; returns the paths."""
    table, figure_path = (stem.with_name(f"{stem.name}.sweep.{kind}") for kind in ("csv", "png"))
    write_text(table, as_csv(sweep))
    write_bytes(figure_path, as_png(sweep))
    return [table, figure_path]


def as_csv(sweep: Sweep) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["gamma", "level", "events", "events_per_minute"])
    for level, counts in sweep.events.items():
        for gamma, count in zip(sweep.gammas, counts, strict=True):
            minutes = sweep.seconds / 60
            each = f"{count / minutes:.4f}" if minutes else ""
            writer.writerow([f"{gamma:.4f}", level, int(count), each])
    return text.getvalue()


def as_png(sweep: Sweep) -> bytes:
    """The number of events over γ, one line per level, on logarithmic axes."""
    require_matplotlib()
    buffer = BytesIO()
    with panels(1, width=7.0, height=4.4) as (figure, (axes,)):
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1)
        for place, (level, counts) in enumerate(sweep.events.items()):
            colour = OTHERS[place % len(OTHERS)]
            axes.plot(sweep.gammas, counts, "o-", color=colour, label=f"level {level}")
        axes.axvline(
            sweep.model_gamma,
            color=GREY,
            linestyle="--",
            label=f"γ of the model, {sweep.model_gamma:g}",
        )
        axes.set_xticks(sweep.gammas[::3], [f"{gamma:.2g}" for gamma in sweep.gammas[::3]])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:.0f}")
        axes.set_ylim(0, 2 * max(int(counts.max()) for counts in sweep.events.values()) + 1)
        axes.set_xlabel("γ, the multiple of the typical D_st (--threshold)")
        axes.set_ylabel("events")
        axes.set_title(f"{Path(sweep.source).name}, {sweep.frames} frames")
        axes.legend()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # of file names, missing in the font
            figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
