"""Run experiments in parallel, store their results, and write the table of results."""
