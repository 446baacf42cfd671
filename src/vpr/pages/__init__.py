"""HTML pages that open without a network: demo, report of a run, timeline of footage."""
