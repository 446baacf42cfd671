"""What our recipe adds to the training of the paper, each with a way to take it out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.training.stages import CRITERIA, Stage

Remove = Callable[[RunConfig], RunConfig]


@dataclass(frozen=True)
class Addition:
    """One difference from the paper that is meant to improve training.

    `remove` returns a configuration that has no such addition unchanged.
    """

    name: str  # as in `vpr train --without NAME`
    motivation: str  # one sentence
    literature: str  # its name in the literature, or ""
    remove: Remove

    def is_in(self, config: RunConfig) -> bool:
        """Whether the configuration has it."""
        return self.remove(config) != config


def without_objective(name: str) -> Remove:
    """Removes a loss term from all stages."""

    def remove(config: RunConfig) -> RunConfig:
        stages = [
            replace(stage, objectives=tuple(each for each in stage.objectives if each != name))
            for stage in config.stages
        ]
        return replace(config, stages=tuple(stages))

    return remove


def with_linear_annealing(config: RunConfig) -> RunConfig:
    """Replaces all stages before the last by the paper's linear anneal with both criteria."""
    *before, last = config.stages
    if all(set(stage.beta_ratio) == {1.0} for stage in before):
        return config
    anneal = replace(
        before[0],
        share=sum(stage.share for stage in before),
        until_explained=1.0,
        beta=(0.0, last.beta[0]),
        beta_ratio=(1.0, 1.0),
        criteria=CRITERIA,
    )
    return replace(config, stages=(anneal, last))


def without_random_updates(config: RunConfig) -> RunConfig:
    """The criteria decide in every stage. A stage without criteria gets those of the next one."""
    stages: list[Stage] = []
    for stage in reversed(config.stages):
        criteria = stage.criteria or stages[0].criteria
        stages.insert(0, replace(stage, random_updates=0.0, criteria=criteria))
    return replace(config, stages=tuple(stages))


def with_plain_reconstruction(config: RunConfig) -> RunConfig:
    """The reconstruction has the weight 1."""
    return replace(config, training=replace(config.training, frame_nats=0.0))


ADDITIONS: tuple[Addition, ...] = (
    Addition(
        "persistence",
        "The ELBO has no term for frames at which a level stays, so nothing trains the posterior "
        "to agree with the unchanged state while nothing changes.",
        "static component of a renewal-process prior (cf. DLH)",
        without_objective("persistence"),
    ),
    Addition(
        "bottom-up-annealing",
        "With one β for all levels, a level has no reason to represent what the level below "
        "represents already, and it stays empty; at first, higher levels are cheaper.",
        "KL annealing, one warm-up per level (cf. ladder VAE)",
        with_linear_annealing,
    ),
    Addition(
        "random-updates",
        "The criteria of an untrained level detect nothing useful, and a level that misses a "
        "change is not trained on the frames after it; random updates depend on neither.",
        "exploration",
        without_random_updates,
    ),
    Addition(
        "data-scaled-reconstruction",
        "The balance of reconstruction and KL should not depend on the number of pixels or on the "
        "contrast of the data.",
        "calibrated decoders (cf. σ-VAE, GECO)",
        with_plain_reconstruction,
    ),
    Addition(
        "overshooting",
        "The transition model is trained to predict one event ahead only, and its errors add up "
        "over many events.",
        "latent overshooting (PlaNet)",
        without_objective("overshooting"),
    ),
    Addition(
        "bottleneck",
        "A predictable copy of a feature of a higher level costs nothing at a lower level, and "
        "contradicts the higher level in rollouts.",
        "information bottleneck (Deep VIB)",
        without_objective("bottleneck"),
    ),
)


def addition(name: str) -> Addition:
    """The addition of this name."""
    for each in ADDITIONS:
        if each.name == name:
            return each
    raise VPRError(f"no addition {name!r}: choose from {', '.join(a.name for a in ADDITIONS)}")


def additions_of(config: RunConfig) -> tuple[Addition, ...]:
    """Those that the configuration has."""
    return tuple(each for each in ADDITIONS if each.is_in(config))


def without(config: RunConfig, names: list[str]) -> RunConfig:
    """The configuration without these additions, each of which it must have."""
    for each in map(addition, names):
        if not each.is_in(config):
            raise VPRError(f"{config.preset} has no {each.name} to leave out")
        config = each.remove(config)
    return config
