"""What the Moving Ball experiments have in common: settings, and curves of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vpr.config import RunConfig
from vpr.data import MovingBall
from vpr.experiments.base import Result, Results, Scale
from vpr.experiments.figures import draw_band, draw_scores, panels, unit
from vpr.experiments.trained import Record
from vpr.presets import SLOW, preset
from vpr.schedule import Staged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = "2"  # which holds the colour
F1 = "F1 of level 2, colour changes"
SETTINGS = {
    "cpu": (
        "smaller image network, staged schedule with random updates at first, root mean in CU, "
        "loss weights (β 1 and 4, reconstruction 1/16), learning rate, about 2,000 steps"
    ),
    "paper": "the paper's numbers",
    "tiny": "a run of seconds, which measures nothing",
}


def ball(scale: Scale, slow: bool = False) -> RunConfig:
    """The run of a scale: the preset, or one of seconds."""
    if scale == "tiny":
        return _tiny(slow)
    return preset(f"{scale}/moving-ball{'-slow' if slow else ''}")


def _tiny(slow: bool) -> RunConfig:
    config = preset("cpu/moving-ball")
    data = MovingBall(size=16, speed=SLOW.speed if slow else 6.0)
    return replace(
        config,
        preset="tiny/moving-ball",
        model=replace(config.model, frame=data.frame, width=12, state_size=3, channels=4),
        data=data,
        training=replace(
            config.training, steps=60, batch_size=3, length=5, decay_steps=40, checkpoint_every=4
        ),
        schedule=Staged(
            settle_window=1,
            settle_after=0,
            settle_tolerance=0.99,
            level_one_steps=2,
            upper_steps=2,
            squeeze_steps=1,
        ),
    )


def setting(runs: Sequence[Result]) -> str:
    """What differs from the paper, for the table."""
    preset: str = runs[0].config["preset"]
    return f"{preset}: {SETTINGS[preset.split('/')[0]]}"


def scores(record: Record) -> dict[str, Any]:
    """Of a record: the final F1 and what it is made of, and its curve over training."""
    evaluation = record["evaluation"]
    colour = evaluation["levels"][LEVEL]["colour"]
    return {
        "f1": colour["f1"],
        "precision": colour["precision"],
        "recall": colour["recall"],
        "fpr": colour["fpr"],
        "random_f1": evaluation["controls"][LEVEL]["random"]["colour"]["f1"],
        "periodic_f1": evaluation["controls"][LEVEL]["periodic"]["colour"]["f1"],
        "update_rate": evaluation["levels"][LEVEL]["update_rate"],
        "elbo": evaluation["elbo"],
        "settled": record["settled"],
        "curve": {"step": steps(record), "f1": over_training(record, "f1")},
    }


def steps(record: Record) -> list[int]:
    return [look["step"] for look in record["looks"]]


def over_training(record: Record, name: str) -> list[float]:
    return [look["levels"][LEVEL][name] for look in record["looks"]]


class Appearance(NamedTuple):
    """How a variant appears in figures and tables."""

    label: str
    colour: str


def draw_training(
    results: Results, appearances: dict[str, Appearance], curve_name: str = "f1", axis: str = F1
) -> Figure:
    """One of the variants' curves over training, and their F1 at the end."""
    with panels(2) as (figure, (over, final)):
        for name, runs in reversed(results.items()):  # the first one on top
            curves = [curve(run, curve_name) for run in runs]
            draw_band(over, curves, appearances[name].colour, appearances[name].label)
        over.set_xlabel("training step")
        over.set_ylabel(axis)
        if curve_name == "f1":
            unit(over, axis)
        over.legend(loc="best", reverse=True)
        groups = {
            appearances[n].label: [run.metrics["f1"] for run in runs] for n, runs in results.items()
        }
        draw_scores(final, groups, [appearances[name].colour for name in results])
        final.set_ylabel("F1 at the end, each run")
    return figure


def curve(result: Result, name: str) -> tuple[list[int], list[float]]:
    """(steps, values) of a result whose metrics hold a `curve`."""
    return result.metrics["curve"]["step"], result.metrics["curve"][name]
