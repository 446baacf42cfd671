"""Inspect a model during training: scores of its boundaries, and which criterion causes them.

The sequences are always the same and are not used for training; training does not depend on the
results.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from vpr.beliefs import cross_entropy
from vpr.data import Batch, Dataset, evaluation_rng, unseen
from vpr.evaluation import score
from vpr.events import Evidence, Rule
from vpr.experiments.shared.datasets import labelled, true_events
from vpr.model import VPR
from vpr.utils.tree import tree_map

SEQUENCES, LENGTH = 32, 50
SEED = 1  # the final evaluation uses 0


class LevelInspection(NamedTuple):
    """One level on all sequences, (B, T) each; NaN where the level below did not update."""

    evidence: Evidence
    entropy_gap: Tensor  # |H(q_ch) − H(q_st)|
    cross_entropy_gap: Tensor  # |E_q_ch[ln p_ch] − E_q_st[ln p_st]|


def inspect_model(model: VPR, rule: Rule, data: Dataset) -> dict[str, Any]:
    """Scores, update rates and entropies of levels 2 to N under `rule`, and one sequence in detail.

    Scores are omitted for data without labels.
    """
    batch = labelled(unseen(data)).batch(SEQUENCES, LENGTH, evaluation_rng(SEED))
    before, model.rule = model.rule, rule
    try:
        video = torch.from_numpy(batch.frames).to(model.device, model.dtype)
        levels = observe_with_entropies(model, video)
    finally:
        model.rule = before
    return {str(n): _metrics(level, n, batch) for n, level in enumerate(levels, start=2)}


@torch.no_grad()
def observe_with_entropies(model: VPR, video: Tensor) -> list[LevelInspection]:
    """Call `step` for each frame of a video (B, T, *frame); levels 2 to N, with entropies."""
    x = model.encodings(video)
    state, frames = model.initial(len(video)), []
    for t in range(video.shape[1]):
        gaps = [_gaps(model, n, state.blocks[n], x[n][:, t]) for n in range(1, len(x))]
        state, evidence = model.step(state, video[:, t])
        frames.append([LevelInspection(e, *gap) for e, gap in zip(evidence[1:], gaps, strict=True)])
    stacked = [
        tree_map(lambda *v: torch.stack(v, 1), *level) for level in zip(*frames, strict=True)
    ]
    return [_mask_gaps(level) for level in stacked]


def _gaps(model: VPR, n: int, now: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    q, p = model.blocks[n].hypotheses(now, x)  # type: ignore[operator]
    entropy, cross = q.entropy(), cross_entropy(q, p)  # (B, 2): static, change
    return (entropy[:, 1] - entropy[:, 0]).abs(), (cross[:, 1] - cross[:, 0]).abs()


def _mask_gaps(level: LevelInspection) -> LevelInspection:
    compared = ~level.evidence.kl_static.isnan()
    gaps = (gap.where(compared, torch.nan) for gap in (level.entropy_gap, level.cross_entropy_gap))
    return LevelInspection(level.evidence, *gaps)


def _metrics(level: LevelInspection, n: int, batch: Batch) -> dict[str, Any]:
    e = tree_map(Tensor.cpu, level.evidence)
    true = true_events(n, batch) if batch.changes else None
    expected, unexpected = e.kl_static > e.kl_change, e.kl_static > e.threshold
    found = e.boundary[:, 1:]
    count = max(int(found.sum()), 1)
    metrics: dict[str, Any] = {
        "update_rate": float(found.float().mean()),
        "expected_share": float((found & expected[:, 1:]).sum()) / count,
        "unexpected_share": float((found & unexpected[:, 1:]).sum()) / count,
        "entropy_gap": _rounded(level.entropy_gap.nanmean()[None])[0],
        "cross_entropy_gap": _rounded(level.cross_entropy_gap.nanmean()[None])[0],
        "sequence": _sequence(e),
    }
    if true is None:
        return metrics
    metrics["sequence"]["true"] = true[0, 1:].tolist()
    return _scores(e.boundary, expected, unexpected, true) | metrics


def _scores(
    boundary: Tensor, expected: Tensor, unexpected: Tensor, true: NDArray[np.bool_]
) -> dict[str, float]:
    scored = score(boundary.numpy(), true)
    return {
        "f1": scored.f1,
        "recall": scored.recall,
        "fpr": scored.fpr,
        "f1_expected": score(expected.numpy(), true).f1,
        "f1_unexpected": score(unexpected.numpy(), true).f1,
    }


def _sequence(e: Evidence) -> dict[str, list[Any]]:
    """Evidence of the first sequence, without its first frame, at which every level updates."""
    values = {"kl_static": e.kl_static, "kl_change": e.kl_change, "threshold": e.threshold}
    marks = {"boundary": e.boundary[0, 1:].tolist()}
    return {name: _rounded(value[0, 1:]) for name, value in values.items()} | marks


def _rounded(values: Tensor) -> list[float | None]:
    """Four significant digits; None for NaN and infinity, which JSON does not have."""
    finite = values.isfinite().tolist()
    return [
        float(f"{v:.4g}") if ok else None for v, ok in zip(values.tolist(), finite, strict=True)
    ]
