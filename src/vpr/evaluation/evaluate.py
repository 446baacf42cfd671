"""Scores of a trained model on sequences that are not used for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from vpr.baselines.baseline_model import Baseline
from vpr.data import Batch, Dataset, evaluation_rng, unseen
from vpr.evaluation.scores import Marks, periodic_like, random_like, score
from vpr.model import VPR
from vpr.utils.checks import check_request

CHUNK = 32  # sequences per batch, to bound the memory


class Observed(NamedTuple):
    """Decisions of each level (sequences, frames), and terms of the ELBO."""

    boundary: list[Marks]
    expected: list[Marks]
    unexpected: list[Marks]
    reconstruction: float  # nats per frame
    kl: list[float]  # nats per frame of each level


@torch.no_grad()
def evaluate(
    model: VPR | Baseline,
    data: Dataset,
    *,
    sequences: int = 256,
    length: int = 50,
    seed: int = 0,
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Score the events of each level against the changes of each factor, with controls.

    Detection uses the means of the states, the ELBO one sample. `expected_share` is the share of
    boundaries of a level at which CE holds, with or without CU; `unexpected_share` the same for CU.
    """
    check_request(model.config, data, sequences, length)
    batch = unseen(data).batch(sequences, length, evaluation_rng(seed))
    observed = _observe(model.eval(), batch, seed, on_progress)
    levels = range(1, model.config.levels + 1)
    return {
        "levels": {str(n): _level(observed, n - 1, batch) for n in levels},
        "controls": {str(n): _controls(observed.boundary[n - 1], batch, seed) for n in levels},
        "elbo": -(observed.reconstruction + sum(observed.kl)),
        "reconstruction": observed.reconstruction,
        "kl": observed.kl,
        "sequences": sequences,
        "length": length,
        "seed": seed,
    }


def _observe(
    model: VPR | Baseline, batch: Batch, seed: int, on_progress: Callable[[int], None] | None
) -> Observed:
    generator = torch.Generator().manual_seed(seed)
    marks: list[list[NDArray[Any]]] = []
    terms: list[NDArray[Any]] = []
    for start in range(0, len(batch.frames), CHUNK):
        video = torch.from_numpy(batch.frames[start : start + CHUNK]).to(model.device, model.dtype)
        trace = model.observe(video)
        seen = [level.evidence for level in trace.levels]
        kinds = [(e.boundary, e.expected, e.unexpected) for e in seen]
        marks.append([torch.stack(each).cpu().numpy() for each in kinds])
        loss = model.loss(video, noise=model.noise(len(video), video.shape[1], generator))
        both = torch.cat([loss.reconstruction[None], loss.kl])
        terms.append(len(video) * both.cpu().numpy())
        if on_progress is not None:
            on_progress(start + len(video))
    whole = [np.concatenate(level, 1) for level in zip(*marks, strict=True)]
    reconstruction, *kl = (np.sum(terms, 0) / len(batch.frames)).tolist()
    boundary, expected, unexpected = ([level[i] for level in whole] for i in range(3))
    return Observed(boundary, expected, unexpected, reconstruction, kl)


def _level(observed: Observed, n: int, batch: Batch) -> dict[str, Any]:
    boundary = observed.boundary[n]
    result: dict[str, Any] = {
        factor: score(boundary, true)._asdict() for factor, true in batch.changes.items()
    }
    found = boundary[:, 1:]
    count = max(int(found.sum()), 1)
    expected, unexpected = observed.expected[n][:, 1:], observed.unexpected[n][:, 1:]
    return result | {
        "update_rate": float(found.mean()),
        "expected_share": float((found & expected).sum()) / count,
        "unexpected_share": float((found & unexpected).sum()) / count,
        "both_share": float((found & expected & unexpected).sum()) / count,
    }


def _controls(boundary: Marks, batch: Batch, seed: int) -> dict[str, Any]:
    """Scores of the same number of boundaries at periodic and at random frames."""
    controls = {
        "periodic": periodic_like(boundary),
        "random": random_like(boundary, np.random.default_rng(seed)),
    }
    return {
        name: {factor: score(marks, true)._asdict() for factor, true in batch.changes.items()}
        for name, marks in controls.items()
    }
