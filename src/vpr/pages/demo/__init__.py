"""`vpr demo`: events that a model finds in new sequences, as a page, a table and JSON."""

from vpr.pages.demo.demo_page import demo_page
from vpr.pages.demo.demo_run import Demo, run_demo
from vpr.pages.demo.summary_table import demo_json, summary_rows

__all__ = ["Demo", "demo_json", "demo_page", "run_demo", "summary_rows"]
