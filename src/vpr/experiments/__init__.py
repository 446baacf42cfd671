"""The paper's figures and tables, one file each, all run by `vpr reproduce`."""

from vpr.errors import VPRError
from vpr.experiments import (
    adaptation,
    balls,
    criteria,
    decision,
    depth,
    disentanglement,
    empty_prior,
    entropy,
    imagination,
    intervals,
    maze,
    mechanism,
    montage,
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
        depth,
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
    )
}


def experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise VPRError(f"no experiment {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
