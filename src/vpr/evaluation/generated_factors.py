"""Factors in the frames that a model generates, compared with the truth.

The factors of these datasets follow a fixed cycle, so after k events they are k places further.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.baselines import CWVAE, VTA
from vpr.baselines.baseline_model import Baseline
from vpr.evaluation.factor_readers import Reader, Reading, concatenate, read_in_batches
from vpr.generation.generate import Below, decode, rollout, sample
from vpr.model import VPR

CHUNK = 32  # sequences per batch, to bound the memory
ROLLOUT_CHUNK = 50  # frames of a baseline decoded at once, to bound the memory


def read_rollout(
    model: VPR,
    reader: Reader,
    video: Tensor,
    level: int,
    steps: int,
    *,
    below: Below = "held",
    seed: int = 0,
) -> Reading:
    """Observe a video (B, T, *frame), roll out, and read each factor (B, K); see `rollout`."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        state = model.observe(part).state
        return reader(rollout(model, state, level, steps, generator=generator, below=below).frames)

    return read_in_batches(model, video, read)


def read_reconstruction(model: VPR | Baseline, reader: Reader, video: Tensor) -> Reading:
    """Each factor (B,) in the reconstruction of the last frame of a video (B, T, *frame)."""

    def read(part: Tensor) -> Reading:
        return reader(model.reconstruct(model.observe(part).c0[:, -1]))

    return read_in_batches(model, video, read)


def read_draws(
    model: VPR, reader: Reader, video: Tensor, level: int, draws: int, seed: int = 0
) -> Reading:
    """Sample once per sequence of a video (B, T, *frame), and read each factor (B, I)."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        return reader(sample(model, model.observe(part).state, level, draws, generator).frames)

    return read_in_batches(model, video, read)


def read_open_loop(
    model: VTA | CWVAE,
    reader: Reader,
    video: Tensor,
    frames: int,
    *,
    samples: bool = True,
    seed: int = 0,
) -> Reading:
    """Observe a video (B, T, *frame), predict `frames` frames, and read each factor (B, F)."""
    generator = torch.Generator().manual_seed(seed)

    def read(part: Tensor) -> Reading:
        state: Any = model.observe(part).state
        pieces = []
        for start in range(0, frames, ROLLOUT_CHUNK):
            steps = min(ROLLOUT_CHUNK, frames - start)
            made = model.rollout(state, 1, steps, samples=samples, generator=generator)
            pieces.append(reader(made.frames))
            state = made.state
        return concatenate(pieces, axis=1)

    return read_in_batches(model, video, read)


def in_order(decoded: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Whether prediction k of (B, K) is k places after the last value (B,) in the cycle."""
    k = np.arange(1, decoded.shape[1] + 1)
    return np.asarray(decoded == (last[:, None] + k) % values)


def advances_by_one(decoded: NDArray[Any], last: NDArray[Any], values: int) -> NDArray[np.bool_]:
    """Whether each prediction (B, K) is one place after the previous one; an error counts once."""
    before = np.concatenate([last[:, None], decoded[:, :-1]], 1)
    return np.asarray((decoded == (before + 1) % values) & (before >= 0))


def unchanged(decoded: NDArray[Any], last: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each prediction (B, K) still has the last value (B,)."""
    return np.asarray(decoded == last[:, None])


def events_in(decoded: NDArray[Any], last: NDArray[Any], count: int) -> NDArray[Any]:
    """The values (B, count) after each change of a factor (B, F) that was `last` (B,) before.

    −1 where there are fewer changes.
    """
    before = np.concatenate([last[:, None], decoded[:, :-1]], 1)
    found = np.full((len(decoded), count), -1)
    for row, values, changed in zip(found, decoded, decoded != before, strict=True):
        events = values[changed][:count]
        row[: len(events)] = events
    return found


def future(
    seen: NDArray[Any], changed: NDArray[np.bool_], period: int, values: int, frames: int
) -> NDArray[Any]:
    """The true continuation (B, frames) of a factor (B, T) that changes every `period` frames.

    The last change in `changed` (B, T) determines the phase.
    """
    since = changed[:, ::-1].argmax(1)[:, None]  # frames from the last change to the last frame
    steps = (since + np.arange(1, frames + 1)) // period
    return np.asarray((seen[:, -1:] + steps) % values)


def mean_entropy(drawn: NDArray[Any]) -> float:
    """H_v in nats of values (M, I): −1/M Σ_m Σ_v p ln p, with M trials of I samples.

    p is the share of value v among the samples of trial m.
    """
    return float(np.mean([_entropy(trial) for trial in drawn]))


def _entropy(values: NDArray[Any]) -> float:
    share = np.unique(values, return_counts=True)[1] / len(values)
    return float(-(share * np.log(share)).sum())


class Swap(NamedTuple):
    """The value that is decoded, as shares of the pairs of sequences that differ in a factor.

    A level that alone represents the factor has follows = 1, one that does not has keeps = 1.
    """

    keeps: float  # value of the sequence itself
    follows: float  # value of the sequence that the state is from


@torch.no_grad()
def swaps(model: VPR, reader: Reader, video: Tensor, true: Reading, level: int) -> dict[str, Swap]:
    """After a video (B, T, *frame), replace s of one level by s of the previous sequence.

    All other levels keep their s. `true` are the factors (B,) at the last frame.
    """
    states = [
        model.observe(part).state
        for part in torch.split(video.to(model.device, model.dtype), CHUNK)
    ]
    other = torch.cat([state.blocks[level - 1].s for state in states]).roll(1, 0)
    parts = []
    for state, s in zip(states, torch.split(other, CHUNK), strict=True):
        parts.append(reader(decode(model, state, level, s.unsqueeze(1))[:, 0]))
    decoded = concatenate(parts)
    return {name: _swap_shares(decoded[name], values) for name, values in true.items()}


def _swap_shares(decoded: NDArray[Any], own: NDArray[Any]) -> Swap:
    other = np.roll(own, 1)
    differ = own != other
    pairs = max(int(differ.sum()), 1)
    keeps, follows = ((decoded == each)[differ].sum() / pairs for each in (own, other))
    return Swap(float(keeps), float(follows))
