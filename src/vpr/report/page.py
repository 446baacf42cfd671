"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape

from vpr.demo.page import SCRIPTS, VIEWS
from vpr.demo.templates import fill, shell
from vpr.report.glance import glance
from vpr.report.heat import heat
from vpr.report.run import Report
from vpr.report.sections import sections
from vpr.report.strips import strips
from vpr.report.training import training


def page(report: Report) -> str:
    count = len(report.levels)
    body = fill(
        "report/template.html",
        run=escape(report.run),
        dataset=escape(report.dataset),
        count=f"{count} levels" if count > 1 else "one level",
        frames=str(report.rollouts.facts["frames"]),
        sequences=str(report.sequences),
        length=str(report.length),
        seed=str(report.seed),
        glance=glance(report.levels),
        heat=heat(report.factors),
        levels=sections(report),
        strips=strips(report),
        training=training(report.training),
    )
    return shell(
        "report",
        f"vpr report: {escape(report.run)}",
        body,
        styles=("demo/style.css", "report/report.css"),
        scripts=(*SCRIPTS, "report/reels.js"),
        views=VIEWS,
    )
