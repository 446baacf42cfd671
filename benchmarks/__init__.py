"""Benchmarks of speed and memory, as ratios of alternatives that are timed in turn.

`vpr bench KIND` runs the file of that name: train, stream, rollout, data, segment, scaling or
baselines.
`naive_vpr.py` and `plain_codecs.py` are alternatives to compare with, not used by the package.
"""
