"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape

from vpr.demo.templates import fill, read
from vpr.report.glance import glance
from vpr.report.heat import heat
from vpr.report.run import Report
from vpr.report.sections import sections
from vpr.report.strips import strips
from vpr.report.training import training


def page(report: Report) -> str:
    count = len(report.levels)
    return fill(
        "report/template.html",
        style=read("demo/style.css") + read("report/report.css"),
        script=read("demo/hover.js") + read("report/reels.js"),
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
