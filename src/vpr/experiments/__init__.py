"""Experiments that `vpr reproduce` runs: the figures and tables of the paper, and our own."""

from vpr.errors import VPRError
from vpr.experiments.figures import (
    ablation,
    adaptation,
    baselines,
    bouncing_balls_events,
    criteria,
    decision,
    disentanglement,
    empty_prior,
    entropy,
    fixed_interval,
    maze_events,
    mechanism,
    nested_worlds,
    prediction,
    rollouts,
    samples,
    sensitivity,
    synthetic,
    three_d_shapes_events,
)
from vpr.experiments.runner.experiment import Experiment

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
        three_d_shapes_events,
        bouncing_balls_events,
        maze_events,
        rollouts,
        samples,
        disentanglement,
        prediction,
        empty_prior,
        fixed_interval,
        nested_worlds,
        ablation,
        baselines,
    )
}


def experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise VPRError(f"no experiment {name!r}: choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
