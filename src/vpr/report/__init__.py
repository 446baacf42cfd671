"""`vpr report`: what a trained hierarchy does, level by level, as one page."""

from vpr.report.facts import as_json
from vpr.report.page import page
from vpr.report.run import Report, run_report

__all__ = ["Report", "as_json", "page", "run_report"]
