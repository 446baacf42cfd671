"""The paper's figures and tables, one file each, all run by `vpr reproduce`."""

from vpr.errors import VPRError
from vpr.experiments import (
    ablation,
    adaptation,
    balls,
    criteria,
    decision,
    disentanglement,
    empty_prior,
    entropy,
    imagination,
    intervals,
    maze,
    mechanism,
    montage,
    nested_worlds,
    prediction,
    rollouts,
    samples,
    sensitivity,
    shapes,
    synthetic,
)
from vpr.experiments.base import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    each.EXPERIMENT.name: each.EXPERIMENT
    for each in (
        synthetic,
        criteria,
        mechanism,
        adaptation,
        decision,
        entropy,
        sensitivity,
        shapes,
        balls,
        maze,
        rollouts,
        samples,
        disentanglement,
        prediction,
        empty_prior,
        intervals,
        imagination,
        montage,
        nested_worlds,
        ablation,
    )
}


def experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise VPRError(f"no experiment {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
