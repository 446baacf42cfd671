"""The report as one HTML file."""

from __future__ import annotations

from html import escape

from vpr.pages.report.event_strips import event_strips
from vpr.pages.report.factor_scores import factor_tables
from vpr.pages.report.level_sections import level_sections
from vpr.pages.report.overview import overview
from vpr.pages.report.report_run import Report
from vpr.pages.report.training_curves import training_curves
from vpr.pages.sequence_view import VIEWS
from vpr.pages.templates import fill, shell


def report_page(report: Report) -> str:
    count = len(report.levels)
    body = fill(
        "report/report.html",
        run=escape(report.run),
        dataset=escape(report.dataset),
        count=f"{count} levels" if count > 1 else "one level",
        unfinished=_unfinished(report),
        frames=str(report.rollouts.facts["frames"]),
        sequences=str(report.sequences),
        length=str(report.length),
        seed=str(report.seed),
        overview=overview(report.levels),
        factors=factor_tables(report.factors),
        levels=level_sections(report),
        strips=event_strips(report),
        training=training_curves(report.training),
    )
    return shell(
        "report",
        f"vpr report: {escape(report.run)}",
        body,
        styles=("report/report.css",),
        scripts=("sequence_view.js", "report/animation.js"),
        views=VIEWS,
    )


def _unfinished(report: Report) -> str:
    if report.unfinished is None:
        return ""
    done, intended = report.unfinished
    trained = f"was trained for {done:,} of {intended:,} steps" if done else "is not trained"
    return f'<p class="card"><b>This model {trained}:</b> the page shows no finished result.</p>'
