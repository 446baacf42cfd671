"""Beyond the paper: the future frame by frame. Do imagined events last as long as real ones?"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpr.config import RunConfig
from vpr.data import ThreeDShapesDynamic
from vpr.errors import VPRError
from vpr.evaluation import evaluate_imagination
from vpr.experiments.runner.base import Claim, Experiment, Result, Results
from vpr.experiments.runner.finished import amount, asking
from vpr.experiments.runner.settings import setting
from vpr.experiments.shared.imagined_changes import FRAMES, PARTS, follow
from vpr.experiments.shared.panels import BOTH, GREY, OTHERS, draw_band, panels, unit
from vpr.experiments.shared.readers import SEED
from vpr.experiments.shared.worlds import HELD, NAMES, worlds
from vpr.generation.durations import Durations
from vpr.generation.learn_durations import fit_durations
from vpr.model import VPR
from vpr.pretrained import load_durations, save_durations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WATCHED, IMAGINED = 256, 200  # sequences, and frames of each, for lengths and calibration
TAUGHT = 2048  # sequences that the durations learn from
OPEN = "left open"
FILM = {
    "order": "events with the next hue in order",
    "time": "frames with the right hue at their time",
    "f1": "F1 of the imagined events, exact frame",
}
INKS = {"colour": OTHERS[1], "wall": BOTH, "object": OTHERS[0]}


def ask(model: VPR, config: RunConfig, folder: Path) -> dict[str, Any]:
    """Calibration and lengths of every level from 2 on; of 3DSD also order and time."""
    durations = _durations(model, config, folder)
    found = evaluate_imagination(
        model,
        durations,
        config.data,
        sequences=amount(config, WATCHED),
        frames=amount(config, IMAGINED),
        seed=SEED,
    )
    if isinstance(config.data, ThreeDShapesDynamic):
        found["film"] = follow(model, durations, config, config.data, folder)
    return found


def _durations(model: VPR, config: RunConfig, folder: Path) -> Durations:
    """Those of the run folder, or fitted now and kept there."""
    with suppress(VPRError):  # there are none, or older ones
        return load_durations(folder, model)
    sequences = amount(config, TAUGHT)
    fitted = fit_durations(model, config.data, sequences=sequences, seed=config.seed)
    save_durations(fitted, model, folder)
    return fitted


def levels(results: Results) -> list[tuple[str, str, str, list[Result]]]:
    """World, level, its factor and the runs, of all that are there."""
    return [
        (world, str(level), factor, runs)
        for world, runs in results.items()
        for level, factor in HELD[world].items()
        if level > 1
    ]


def draw(results: Results) -> Figure:
    """How reliable the probabilities are, how long events last, and how long it stays true."""
    with panels(3) as (figure, (reliability, lasting, film)):
        reliability.plot([0, 1], [0, 1], color=GREY, linestyle="--")
        for world, level, factor, runs in levels(results):
            told = [run.metrics["levels"][level] for run in runs]
            _draw_reliability(reliability, told, INKS[factor], f"{NAMES[world]}, {factor}")
            _draw_lengths(lasting, told, INKS[factor])
        for factor in ("wall", "object"):
            films = [run.metrics["film"] for run in results.get("3dsd", [])]
            if films:
                _draw_films(film, films, factor)
        film.set_xlabel("frames imagined (dashed: endings drawn)")
        unit(film, "right hue at its time, 3DSD")
        reliability.legend(loc="upper left")
    return figure


def _draw_films(axes: Axes, films: list[dict[str, Any]], factor: str) -> None:
    """Solid where events end when that is likeliest, dashed where their ends are drawn."""
    ends = [FRAMES * (k + 1) / PARTS for k in range(PARTS)]
    likeliest = [(ends, each["likeliest"][factor]["parts"]) for each in films]
    draw_band(axes, likeliest, INKS[factor], factor)
    for each in films:
        axes.plot(ends, each["drawn"][factor]["parts"], "--", color=INKS[factor], alpha=0.4)


def _draw_reliability(axes: Axes, told: list[dict[str, Any]], ink: str, label: str) -> None:
    for number, each in enumerate(told):
        points = each["calibration"]
        name = label if number == 0 else None
        axes.plot(points["forecast"], points["frequency"], ".-", color=ink, alpha=0.6, label=name)
    axes.set_xlabel("probability that the event ends")
    unit(axes, "how often it did")


def _draw_lengths(axes: Axes, told: list[dict[str, Any]], ink: str) -> None:
    """Solid as imagined, dashed the truth."""
    for each in told:
        for name, line in (("imagined", "-"), ("true", "--")):
            longer = each["lengths"][name]["longer"]
            axes.plot(range(len(longer)), longer, line, color=ink, alpha=0.6)
    axes.set_xlim(0, 20)
    axes.set_xlabel("frames (dashed: the truth)")
    unit(axes, "events that last longer")


def claims(results: Results) -> list[Claim]:
    rows = []
    for world, level, factor, runs in levels(results):
        told = [run.metrics["levels"][level] for run in runs]
        name = f"{NAMES[world]}, {factor}"
        lengths = [each["lengths"] for each in told]
        longer = [abs(each["imagined"]["mean"] / each["true"]["mean"] - 1) for each in lengths]
        errors = [each["calibration"]["error"] for each in told]
        skills = [each["calibration"]["skill"] for each in told]
        differs = setting(runs)
        rows.append(Claim(f"{name}: imagined length off the true one", OPEN, longer, differs, True))
        rows.append(Claim(f"{name}: expected calibration error", OPEN, errors, differs))
        rows.append(Claim(f"{name}: skill of the forecast", OPEN, skills, differs))
        if world == "3dsd":
            rows += [
                Claim(
                    f"{name}, {FRAMES} frames, endings {endings}: {what}",
                    OPEN,
                    [run.metrics["film"][endings][factor][key] for run in runs],
                    differs,
                )
                for endings in ("likeliest", "drawn")
                for key, what in FILM.items()
            ]
    return rows


EXPERIMENT = Experiment(
    name="imagination",
    title="Moving Ball and 3DSD: calibration and lengths of imagined events, 1,600 frames of 3DSD",
    cost="four minutes a run; models are those of criteria and 3dsd-events",
    variants=worlds,
    measure=asking(ask),
    draw=draw,
    claims=claims,
)
