"""What experiments write down while a model trains: how well it detects, and what decides.

Always on the same evaluation sequences, which no run trains on and nothing in a run depends on.
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
from vpr.experiments.shared.truth import labelled, truth_of
from vpr.model import VPR
from vpr.utils.tree import tree_map

SEQUENCES, LENGTH = 32, 50
SEED = 1  # the final evaluation has 0


class Seen(NamedTuple):
    """One level over the sequences; NaN where the signal did not arrive. All (B, T)."""

    evidence: Evidence
    entropy_gap: Tensor  # |H(q_ch) − H(q_st)|
    cross_entropy_gap: Tensor  # |E_q_ch[ln p_ch] − E_q_st[ln p_st]|


def look_at(model: VPR, rule: Rule, data: Dataset) -> dict[str, Any]:
    """How levels 2 to N do under `rule`: scores, shares, entropies, and one sequence in detail.

    There are no scores of data that nobody labelled.
    """
    batch = labelled(unseen(data)).batch(SEQUENCES, LENGTH, evaluation_rng(SEED))
    before, model.rule = model.rule, rule
    try:
        seen = observe_closely(model, torch.from_numpy(batch.frames).to(model.device, model.dtype))
    finally:
        model.rule = before
    return {str(n): _level(each, n, batch) for n, each in enumerate(seen, start=2)}


@torch.no_grad()
def observe_closely(model: VPR, video: Tensor) -> list[Seen]:
    """`step` through a video (B, T, *frame), with the entropies behind each comparison."""
    x = model.encodings(video)
    state, moments = model.initial(len(video)), []
    for t in range(video.shape[1]):
        gaps = [_gaps(model, n, state.blocks[n], x[n][:, t]) for n in range(1, len(x))]
        state, evidence = model.step(state, video[:, t])
        moments.append([Seen(e, *gap) for e, gap in zip(evidence[1:], gaps, strict=True)])
    stacked = [
        tree_map(lambda *v: torch.stack(v, 1), *level) for level in zip(*moments, strict=True)
    ]
    return [_where_asked(level) for level in stacked]


def _gaps(model: VPR, n: int, now: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    q, p = model.blocks[n].hypotheses(now, x)  # type: ignore[operator]
    entropy, cross = q.entropy(), cross_entropy(q, p)  # (B, 2): static, change
    return (entropy[:, 1] - entropy[:, 0]).abs(), (cross[:, 1] - cross[:, 0]).abs()


def _where_asked(seen: Seen) -> Seen:
    asked = ~seen.evidence.kl_static.isnan()
    gaps = (gap.where(asked, torch.nan) for gap in (seen.entropy_gap, seen.cross_entropy_gap))
    return Seen(seen.evidence, *gaps)


def _level(seen: Seen, n: int, batch: Batch) -> dict[str, Any]:
    e = tree_map(Tensor.cpu, seen.evidence)
    true = truth_of(n, batch) if batch.changes else None
    expected, unexpected = e.kl_static > e.kl_change, e.kl_static > e.threshold
    found = e.boundary[:, 1:]
    count = max(int(found.sum()), 1)
    shares: dict[str, Any] = {
        "update_rate": float(found.float().mean()),
        "expected_share": float((found & expected[:, 1:]).sum()) / count,
        "unexpected_share": float((found & unexpected[:, 1:]).sum()) / count,
        "entropy_gap": _short(seen.entropy_gap.nanmean()[None])[0],
        "cross_entropy_gap": _short(seen.cross_entropy_gap.nanmean()[None])[0],
        "sequence": _sequence(e),
    }
    if true is None:
        return shares
    shares["sequence"]["true"] = true[0, 1:].tolist()
    return _scores(e.boundary, expected, unexpected, true) | shares


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
    """The first sequence, frame by frame, without its first frame, which no rule decides."""
    values = {"kl_static": e.kl_static, "kl_change": e.kl_change, "threshold": e.threshold}
    marks = {"boundary": e.boundary[0, 1:].tolist()}
    return {name: _short(value[0, 1:]) for name, value in values.items()} | marks


def _short(values: Tensor) -> list[float | None]:
    """Four digits; JSON has no NaN and no infinity."""
    finite = values.isfinite().tolist()
    return [
        float(f"{v:.4g}") if ok else None for v, ok in zip(values.tolist(), finite, strict=True)
    ]
