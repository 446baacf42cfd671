"""`vpr report`: what each level of a trained model does, as one page."""

from vpr.pages.report.report_page import report_page
from vpr.pages.report.report_run import Report, report_json, run_report

__all__ = ["Report", "report_json", "report_page", "run_report"]
