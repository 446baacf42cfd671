"""The report as JSON."""

from __future__ import annotations

from typing import Any

from vpr.pages.report.level_statistics import LevelStatistics
from vpr.pages.report.report_run import Report


def report_json(report: Report) -> dict[str, Any]:
    """The report in JSON types."""
    return {
        "run": report.run,
        "dataset": report.dataset,
        "sequences": report.sequences,
        "length": report.length,
        "seed": report.seed,
        "levels": [_level(level) for level in report.levels],
        "factors": [factor._asdict() for factor in report.factors],
        "training": report.training[-1] if report.training else None,
        "unfinished": list(report.unfinished) if report.unfinished else None,
    }


def _level(level: LevelStatistics) -> dict[str, Any]:
    return level._asdict() | {
        "lengths": {"mean": level.lengths.mean, "events": level.lengths.events},
        "at_events": level.at_events._asdict(),
        "between": level.between._asdict(),
    }
