"""The report for machines."""

from __future__ import annotations

from typing import Any

from vpr.report.levels import Level
from vpr.report.run import Report


def as_json(report: Report) -> dict[str, Any]:
    """JSON's types only."""
    return {
        "run": report.run,
        "dataset": report.dataset,
        "sequences": report.sequences,
        "length": report.length,
        "seed": report.seed,
        "levels": [_level(level) for level in report.levels],
        "factors": [factor._asdict() for factor in report.factors],
        "training": report.training[-1] if report.training else None,
    }


def _level(level: Level) -> dict[str, Any]:
    return level._asdict() | {
        "lengths": {"mean": level.lengths.mean, "events": level.lengths.events},
        "at_events": level.at_events._asdict(),
        "between": level.between._asdict(),
    }
