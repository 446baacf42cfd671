"""The configuration of a model and of a training run. Every field is a flag of `vpr train`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args, get_type_hints

from vpr.data import (
    BouncingBalls,
    MiniworldMaze,
    MovingBall,
    NestedWorld,
    Synthetic,
    ThreeDShapesDynamic,
    Vectors,
    Video,
)
from vpr.errors import VPRError
from vpr.events import Always, Clockwork, Rule, Subjective
from vpr.training.stages import Stage
from vpr.utils.config_fields import option

Data = (
    MovingBall
    | Synthetic
    | ThreeDShapesDynamic
    | BouncingBalls
    | MiniworldMaze
    | NestedWorld
    | Video
    | Vectors
)


# Maximum sizes, because a configuration may be untrusted. Within these limits, computing the shapes
# of the weights takes a second. They are compared with the weight file before memory is allocated.
MAX_LEVELS, MAX_LAYERS, MAX_WIDTH = 16, 16, 65_536
MAX_WINDOW = 100_000  # comparisons


@dataclass(frozen=True)
class ModelConfig:
    """The networks and the boundary rule: all that is needed to build a model."""

    levels: int = option(2, "N, the number of levels.")
    state_size: int = option(20, "|s|, the size of each level's latent state.")
    width: int = option(200, "|x| = |c| = |d|, the size of each channel.")
    layers: int = option(
        4, "Layers of each dense network between the channels; 2 layers learn faster."
    )
    frame: tuple[int, ...] = option(
        (3, 64, 64), "Shape of a frame: channels, height, width; or one number for plain vectors."
    )
    network: Literal["world-models", "folded"] = option(
        "world-models",
        "Image network: the paper's convolutions, or folded patches with a modulated decoder.",
    )
    channels: int = option(32, "Width of the image network's first layer.")
    colour_masks: int = option(
        1, "Number of masks in the folded network; each is multiplied by one colour."
    )
    likelihood: Literal["bernoulli", "gaussian"] = option(
        "bernoulli", "Binary cross entropy, or squared error."
    )
    min_std: float = option(0.1, "Lower bound of all standard deviations.")
    rule: Literal["subjective", "clockwork", "always"] = option(
        "subjective", "The rule that decides whether a level updates."
    )
    expected: bool = option(
        True, "Criterion CE: the predicted next state fits better than the unchanged one."
    )
    unexpected: bool = option(True, "Criterion CU: D_st exceeds γ times its recent mean.")
    gamma: float = option(1.1, "γ, the threshold of CU relative to the recent mean of D_st.")
    window: int = option(100, "τ_w, the number of comparisons in the mean of D_st.")
    intervals: tuple[int, ...] = option(
        (), "Frames between updates of each level, for the clockwork rule."
    )

    def __post_init__(self) -> None:
        for name in ("frame", "intervals"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("network", "likelihood", "rule"):
            choices = get_args(get_type_hints(ModelConfig)[name])
            value = getattr(self, name)
            check(value in choices, f"{name} must be one of {', '.join(choices)}", value)
        _check_size("levels", self.levels, 1, MAX_LEVELS)
        _check_size("layers", self.layers, 2, MAX_LAYERS)
        for name in ("state_size", "width", "channels", "colour_masks"):
            _check_size(name, getattr(self, name), 1, MAX_WIDTH)
        check(self.window <= MAX_WINDOW, f"window must be at most {MAX_WINDOW}", self.window)
        check(self.min_std > 0, "min_std must be above 0", self.min_std)
        _check_frame(self.frame)
        if self.rule == "clockwork":
            rule = f"intervals must have {self.levels} numbers, one per level"
            example = ",".join(str(4**n) for n in range(self.levels))
            fits = len(self.intervals) == self.levels
            check(fits, f"{rule}, such as {example}", self.intervals or "none")
            check(self.intervals[0] == 1, "level 1 updates at every frame", self.intervals)
        make_rule(self)  # raises if the numbers of the rule are invalid


def check(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise VPRError(f"{rule}, got {value}")


def _check_size(name: str, size: int, least: int, most: int) -> None:
    check(size >= least, f"{name} must be {least} or more", size)
    check(size <= most, f"{name} must be at most {most}", size)


def _check_frame(frame: tuple[int, ...]) -> None:
    if len(frame) == 1:
        check(frame[0] <= MAX_WIDTH, f"a vector has at most {MAX_WIDTH} features", frame)
        return check(frame[0] >= 1, "a vector needs at least 1 feature", frame)
    check(len(frame) == 3, "frame must be (channels, height, width) or (features,)", frame)
    check(frame[0] in (1, 3), "a frame has 1 or 3 channels", frame)
    sides = all(side % 16 == 0 and 16 <= side <= 128 for side in frame[1:])
    check(sides, "height and width must be multiples of 16 from 16 to 128", frame)


def make_rule(config: ModelConfig) -> Rule:
    """The boundary rule of a configuration."""
    if config.rule == "clockwork":
        return Clockwork(config.intervals)
    if config.rule == "always":
        return Always()
    return Subjective(config.expected, config.unexpected, config.gamma, config.window)


@dataclass(frozen=True)
class TrainingConfig:
    """The optimisation of a training run."""

    steps: int = option(15_000, "Training steps.")
    batch_size: int = option(32, "Sequences per step.")
    length: int = option(15, "Frames per sequence.")
    decoded_frames: int = option(
        0, "Number of randomly drawn frames per sequence that are decoded; 0: all."
    )
    learning_rate: float = option(5e-4, "Initial learning rate of Adam.")
    final_learning_rate: float = option(5e-5, "Learning rate at the end of the cosine decay.")
    warmup_steps: int = option(0, "Steps over which the learning rate rises from 0.")
    clip: float = option(10_000.0, "Maximum norm of the gradient.")
    frame_nats: float = option(
        0.0,
        "Scale the reconstruction term so that the variation of the frames around their mean "
        "counts this many nats per frame; 0: weight 1, as in the paper.",
    )
    kl_balancing: bool = option(
        False, "While β is below 1, weight each level by its share of the KL."
    )
    checkpoint_every: int = option(250, "Steps between two checkpoints.")
    log_every: int = option(10, "Steps between two lines of metrics.")

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "checkpoint_every", "log_every"):
            check(getattr(self, name) >= 1, f"{name} must be 1 or more", getattr(self, name))
        check(self.length >= 2, "length must be 2 or more: one frame has no events", self.length)
        for name in ("learning_rate", "clip"):
            check(getattr(self, name) > 0, f"{name} must be above 0", getattr(self, name))
        for name in ("final_learning_rate", "warmup_steps", "frame_nats", "decoded_frames"):
            check(getattr(self, name) >= 0, f"{name} must be 0 or more", getattr(self, name))


@dataclass(frozen=True)
class RunConfig:
    """A complete training run: the same configuration and seed give the same weights."""

    preset: str = option("", "Name of the preset it is based on.", flag=False)
    seed: int = option(0, "Random seed of weights, data and noise.")
    model: ModelConfig = field(default_factory=ModelConfig)
    data: Data = field(default_factory=MovingBall)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    stages: tuple[Stage, ...] = option(
        (Stage("whole run", 1.0, decay=True),), "The stages of the run.", flag=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        check(0 <= self.seed < 2**32, "seed must be 0 to 4294967295", self.seed)
        same = self.model.frame == self.data.frame
        wanted = ",".join(map(str, self.data.frame))
        check(same, f"model.frame must be the data's: set it to {wanted}", self.model.frame)

    def with_data(self, data: Data) -> RunConfig:
        """The same run on other data; frame shape and, if the data has them, levels are adapted."""
        levels = getattr(data, "levels", self.model.levels)
        return replace(self, data=data, model=replace(self.model, frame=data.frame, levels=levels))
