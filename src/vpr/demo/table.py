"""The demo in numbers: rows for a terminal, and JSON for machines."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from vpr.demo.run import Clip, Demo, Detections
from vpr.evaluation import Scores


class Row(NamedTuple):
    """One level over one sequence, or over all of them."""

    sequence: int | None  # from 1; None is all
    level: int
    factor: str  # that the level should follow; "" where nobody knows
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
            _facts(row, scores) for row, scores in zip(pooled_rows(demo), demo.pooled, strict=True)
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
        detected=sum(len(lv.boundaries) for lv in levels),
        found=found,
        missed=missed,
        false=false,
        expected=kinds["expected"],
        unexpected=kinds["unexpected"],
        both=kinds["both"],
        clock=kinds["clock"],
        f1=scores.f1,
    )


def _facts(row: Row, scores: Scores) -> dict[str, Any]:
    """All of it, or what can be said where nobody knows the true changes."""
    if row.factor:
        return row._asdict() | scores._asdict()
    return {name: value for name, value in row._asdict().items() if name not in JUDGED}


JUDGED = ("factor", "changes", "found", "missed", "false", "f1")


def _clip(number: int, clip: Clip) -> dict[str, Any]:
    return {
        "sequence": number,
        "changes": {
            lv.factor: np.flatnonzero(clip.changes[lv.factor]).tolist()
            for lv in clip.levels
            if lv.factor
        },
        "levels": [
            _facts(_row(number, [level], level.scores), level.scores) | _events(level)
            for level in clip.levels
        ],
    }


def _events(level: Detections) -> dict[str, Any]:
    """Each as it was detected, and whether it is true, as far as anybody knows."""
    told = [{name: _finite(value) for name, value in b._asdict().items()} for b in level.boundaries]
    if not level.factor:
        return {"boundaries": told}
    judged = [event | {"true": event["frame"] in level.outcome.found} for event in told]
    return {"boundaries": judged, "missed_frames": list(level.outcome.missed)}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
