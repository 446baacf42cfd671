"""Datasets with the ground truth of every factor and its change points."""

from vpr.data.base import Batch, Dataset, evaluation_rng, factor_of, training_rng, unseen
from vpr.data.bouncing_balls import BouncingBalls
from vpr.data.loader import Sequences
from vpr.data.maze import MiniworldMaze
from vpr.data.moving_ball import MovingBall
from vpr.data.nested_world import NestedWorld
from vpr.data.synthetic import Synthetic
from vpr.data.three_d_shapes import ThreeDShapesDynamic
from vpr.data.vectors import Vectors
from vpr.data.video import Video
from vpr.errors import VPRError

DATASETS: dict[str, Dataset] = {
    "moving-ball": MovingBall(),
    "moving-ball-slow": MovingBall(speed=2.5),
    "synthetic": Synthetic(),
    "3dsd": ThreeDShapesDynamic(),
    "bouncing-balls": BouncingBalls(),
    "maze": MiniworldMaze(),
    "nested-world": NestedWorld(),
    "video": Video(),
    "vectors": Vectors(),
}


def dataset(name: str) -> Dataset:
    """The dataset of this name, with the defaults of the paper."""
    if name not in DATASETS:
        raise VPRError(f"no dataset {name!r}: choose one of {', '.join(DATASETS)}")
    return DATASETS[name]


__all__ = [
    "DATASETS",
    "Batch",
    "BouncingBalls",
    "Dataset",
    "MiniworldMaze",
    "MovingBall",
    "NestedWorld",
    "Sequences",
    "Synthetic",
    "ThreeDShapesDynamic",
    "Vectors",
    "Video",
    "dataset",
    "evaluation_rng",
    "factor_of",
    "training_rng",
    "unseen",
]
