"""The demo in numbers: rows for a terminal, and JSON for machines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from vpr.boundaries import Boundary
from vpr.demo.run import Clip, Demo, Detections
from vpr.evaluation import Scores


class Row(NamedTuple):
    """One level over one sequence, or over all of them."""

    sequence: int | None  # from 1; None is all
    level: int
    factor: str  # that the level should follow
    changes: int  # of it
    detected: int
    found: int
    missed: int
    false: int
    expected: int  # by CE alone
    unexpected: int  # by CU alone
    both: int
    clock: int  # by a rule that asks neither
    f1: float


def summary_rows(demo: Demo) -> list[Row]:
    """Each sequence at each level, lowest level first; at the end, each level over all."""
    rows = [
        _row(number, [level], level.scores)
        for number, clip in enumerate(demo.clips, start=1)
        for level in clip.levels
    ]
    return rows + pooled_rows(demo)


def pooled_rows(demo: Demo) -> list[Row]:
    """Each level over all sequences."""
    return [
        _row(None, [clip.levels[n] for clip in demo.clips], scores)
        for n, scores in enumerate(demo.pooled)
    ]


def as_json(demo: Demo) -> dict[str, Any]:
    """JSON's types only; a number that is not finite is None."""
    return {
        "dataset": demo.dataset,
        "seed": demo.seed,
        "length": len(demo.clips[0].frames),
        "levels": [
            row._asdict() | scores._asdict()
            for row, scores in zip(pooled_rows(demo), demo.pooled, strict=True)
        ],
        "sequences": [_clip(number, clip) for number, clip in enumerate(demo.clips, start=1)],
    }


def _row(sequence: int | None, levels: list[Detections], scores: Scores) -> Row:
    found, missed, false = (sum(len(lv.outcome[k]) for lv in levels) for k in range(3))
    kinds = Counter(b.kind for level in levels for b in level.boundaries)
    return Row(
        sequence=sequence,
        level=levels[0].level,
        factor=levels[0].factor,
        changes=found + missed,
        detected=found + false,
        found=found,
        missed=missed,
        false=false,
        expected=kinds["expected"],
        unexpected=kinds["unexpected"],
        both=kinds["both"],
        clock=kinds["clock"],
        f1=scores.f1,
    )


def _clip(number: int, clip: Clip) -> dict[str, Any]:
    return {
        "sequence": number,
        "changes": {
            lv.factor: np.flatnonzero(clip.changes[lv.factor]).tolist() for lv in clip.levels
        },
        "levels": [
            _row(number, [level], level.scores)._asdict()
            | level.scores._asdict()
            | {
                "boundaries": _events(level.boundaries, level.outcome.found),
                "missed_frames": list(level.outcome.missed),
            }
            for level in clip.levels
        ],
    }


def _events(boundaries: Iterable[Boundary], found: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {name: _finite(value) for name, value in b._asdict().items()} | {"true": b.frame in found}
        for b in boundaries
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
