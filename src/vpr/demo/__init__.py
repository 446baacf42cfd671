"""`vpr demo`: a model watches fresh sequences, and a page and a table tell what it saw."""

from vpr.demo.page import page
from vpr.demo.run import Demo, run_demo
from vpr.demo.table import as_json, summary_rows

__all__ = ["Demo", "as_json", "page", "run_demo", "summary_rows"]
