"""The demo as table rows and as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from vpr.pages.demo.demo_run import Demo, scores_of
from vpr.pages.sequence_data import LevelDecisions, SequenceData


class Row(NamedTuple):
    """Counts of one level in one sequence, or in all."""

    sequence: int | None  # from 1; None for all
    level: int
    factor: str  # that the level should follow; "" without labels
    changes: int  # of the factor
    detected: int
    found: int
    missed: int
    false: int
    expected: int  # by CE alone
    unexpected: int  # by CU alone
    both: int
    clock: int  # by a rule that uses neither
    f1: float


def summary_rows(demo: Demo) -> list[Row]:
    """A row per sequence and level, lowest level first, then a row per level over all sequences."""
    rows = [
        summary_row(number, [level])
        for number, clip in enumerate(demo.clips, start=1)
        for level in clip.levels
    ]
    return rows + [summary_row(None, levels) for levels in demo.levels]


def demo_json(demo: Demo) -> dict[str, Any]:
    """The demo in JSON types; a number that is not finite is None."""
    return {
        "dataset": demo.dataset,
        "seed": demo.seed,
        "length": len(demo.clips[0].frames),
        "levels": [_facts(None, levels) for levels in demo.levels],
        "sequences": [_clip(number, clip) for number, clip in enumerate(demo.clips, start=1)],
    }


def summary_row(sequence: int | None, levels: Sequence[LevelDecisions]) -> Row:
    """The row of one level in one sequence, or in several."""
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
        f1=scores_of(levels).f1,
    )


def _facts(sequence: int | None, levels: Sequence[LevelDecisions]) -> dict[str, Any]:
    """Counts and scores; without labels only the counts of events."""
    row = summary_row(sequence, levels)
    if row.factor:
        return row._asdict() | scores_of(levels)._asdict()
    return {name: value for name, value in row._asdict().items() if name not in LABELLED_ONLY}


LABELLED_ONLY = ("factor", "changes", "found", "missed", "false", "f1")


def _clip(number: int, clip: SequenceData) -> dict[str, Any]:
    return {
        "sequence": number,
        "changes": {level.factor: list(level.changes) for level in clip.levels if level.factor},
        "levels": [_facts(number, [level]) | _events(level) for level in clip.levels],
    }


def _events(level: LevelDecisions) -> dict[str, Any]:
    """All events and, with labels, whether each is a true change."""
    events = [
        {name: _finite(value) for name, value in b._asdict().items()} for b in level.boundaries
    ]
    if not level.factor:
        return {"boundaries": events}
    judged = [event | {"true": event["frame"] in level.outcome.found} for event in events]
    return {"boundaries": judged, "missed_frames": list(level.outcome.missed)}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
