"""Benchmarks of speed and memory, as ratios of alternatives that are timed in turn."""

from vpr.bench.baselines import bench_baselines
from vpr.bench.data import bench_data
from vpr.bench.rollout import bench_rollout
from vpr.bench.scaling import bench_scaling
from vpr.bench.segment import bench_segment
from vpr.bench.stream import bench_stream
from vpr.bench.train import bench_train

__all__ = [
    "bench_baselines",
    "bench_data",
    "bench_rollout",
    "bench_scaling",
    "bench_segment",
    "bench_stream",
    "bench_train",
]
