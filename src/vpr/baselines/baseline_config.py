"""Configurations of the baselines and of their training runs.

They extend the configurations of VPR, so that the training loop, the checks and the image networks
can read them. The fields of the boundary rule of VPR (`rule`, `expected`, `gamma`, …) are
not used here, and `layers` only for feature vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

from vpr.config import ModelConfig, RunConfig, TrainingConfig, check
from vpr.utils.config_fields import option


@dataclass(frozen=True)
class VTAConfig(ModelConfig):
    """Variational Temporal Abstraction (Kim, Ahn & Bengio, 2019), with its published sizes."""

    name: ClassVar[str] = "vta"

    state_size: int = option(8, "Size of z and of s.")
    width: int = option(128, "Size of the beliefs and of the features of both levels.")
    likelihood: Literal["bernoulli", "gaussian"] = option("gaussian", "Likelihood of frames.")
    rule: Literal["subjective", "clockwork", "always"] = option("always", "Not used.", flag=False)
    min_std: float = option(1e-3, "Lower bound of all standard deviations.")
    obs_std: float = option(
        1.0,
        "σ of the Gaussian likelihood of frames in [0, 1]. At 64×64 pixels, 1.0 weighs a frame "
        "like the published 1.0 does at 32×32 pixels in [−1, 1].",
    )
    images: Literal["shared", "published"] = option(
        "shared", "Image network: shared with VPR (see `network`), or the published one of VTA."
    )
    max_segment_length: int = option(8, "Segment length from which the prior expects a boundary.")
    max_segments: int = option(
        5, "Segments of a training sequence from which it expects no boundary."
    )
    temperature_decay: float = option(
        0.99999,
        "Factor of the temperature's excess over 0.1, per training step; published: 0.99999.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_likelihood(self.likelihood, self.obs_std)
        check(self.levels == 2, "VTA has 2 levels", self.levels)
        images = self.images in ("shared", "published")
        check(images, "images must be one of shared, published", self.images)
        check(
            self.max_segment_length >= 1,
            "max_segment_length must be 1 or more",
            self.max_segment_length,
        )
        check(self.max_segments >= 1, "max_segments must be 1 or more", self.max_segments)
        decay = self.temperature_decay
        check(0 < decay <= 1, "temperature_decay must be above 0 and at most 1", decay)


@dataclass(frozen=True)
class CWVAEConfig(ModelConfig):
    """Clockwork VAE (Saxena, Ba & Hafner, 2021), with the published sizes for Moving MNIST."""

    name: ClassVar[str] = "cw-vae"

    levels: int = option(3, "Number of levels.")
    state_size: int = option(20, "Size of the stochastic state of each level.")
    width: int = option(200, "Size of the deterministic state of each level.")
    likelihood: Literal["bernoulli", "gaussian"] = option("gaussian", "Likelihood of frames.")
    rule: Literal["subjective", "clockwork", "always"] = option(
        "clockwork", "Not used.", flag=False
    )
    intervals: tuple[int, ...] = option((1, 6, 36), "Frames between updates of each level.")
    min_std: float = option(1e-4, "Lower bound of all standard deviations.")
    obs_std: float = option(
        0.5,
        "σ of the Gaussian likelihood of frames in [0, 1]; 0.5 is the published 1.0 in [−1, 1].",
    )
    hidden: int = option(1000, "Width of the networks that encode frames for levels 2 to N.")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_likelihood(self.likelihood, self.obs_std)
        check(self.rule == "clockwork", "CW-VAE has fixed intervals: rule", self.rule)
        nested = all(slow % fast == 0 for fast, slow in pairwise(self.intervals))
        check(nested, "each interval must be a multiple of the one before", self.intervals)
        check(self.hidden >= 1, "hidden must be 1 or more", self.hidden)


@dataclass(frozen=True)
class BaselineRun(RunConfig):
    """A complete training run of a baseline."""

    model: VTAConfig | CWVAEConfig = field(default_factory=VTAConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


def _check_likelihood(likelihood: str, std: float) -> None:
    check(std > 0, "obs_std must be above 0", std)
    fits = likelihood == "gaussian" or std == 1
    check(fits, "obs_std must be 1 with the likelihood bernoulli", std)
