"""The tables of docs/how-to/performance.md and the sentence of the README match results/bench."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "performance.md").read_text()
README = (ROOT / "README.md").read_text()
NAMES = {
    "cpu": "`cpu/moving-ball`",
    "paper": "`paper/moving-ball`",
    "cpu-3x50": "`cpu/moving-ball`, 3 levels, 50 frames",
    "paper-3x50": "`paper/moving-ball`, 3 levels, 50 frames",
}


def bench(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "results" / "bench" / f"{name}.json").read_text())
    return read


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.0f}"


def train_row(name: str) -> str:
    result = bench(f"train-{name}")
    times = (milliseconds(result[f"{key}_s"]) for key in TRAIN)
    ratios = ("vpr_over_limit", "limit_over_plain", "naive_over_core")
    memory = f"{result['peak_memory_mb']:.0f}"
    return row(NAMES[name], *times, *(f"{result[key]:.2f}" for key in ratios), memory)


TRAIN = ("limit", "plain", "vpr", "core", "naive_core")


def stream_row(name: str) -> str:
    result = bench(f"stream-{name}")
    times = ("encoder_s", "single_encoder_s", "blocked_s", "updating_s")
    ratios = ("blocked_over_encoder", "blocked_over_single_encoder")
    return row(
        NAMES[name],
        *(microseconds(result[key]) for key in times),
        *(f"{result[key]:.2f}" for key in ratios),
        f"{result['frames_per_second']:.0f}",
        f"{result['rss_mb_1k']:.1f}",
        f"{result['rss_mb_100k']:.1f}",
    )


def levels_row(name: str, what: str) -> str:
    levels = bench(f"stream-{name}")["by_levels"]
    return row(f"{NAMES[name]}, {what}", *(microseconds(v[f"{what}_s"]) for v in levels.values()))


def data_row(name: str) -> str:
    result = bench(f"data-{name}")
    times = (f"{1000 * result[key]:.1f}" for key in ("batch_s", "step_s"))
    return row(NAMES[name], *times, f"{result['data_share']:.3f}")


@pytest.mark.parametrize("name", NAMES)
def test_training(name: str) -> None:
    assert train_row(name) in PAGE


@pytest.mark.parametrize("name", ["cpu", "paper"])
def test_streams(name: str) -> None:
    assert stream_row(name) in PAGE
    for what in ("blocked", "updating"):
        assert levels_row(name, what) in PAGE
    assert data_row(name) in PAGE


def test_nothing_else_stands_in_the_tables() -> None:
    found = re.findall(r"^\| `.*-ball.*\|$", PAGE, re.MULTILINE)
    streams = [f(n) for f in (stream_row, data_row) for n in ("cpu", "paper")]
    levels = [levels_row(n, what) for n in ("cpu", "paper") for what in ("blocked", "updating")]
    assert sorted(found) == sorted([*map(train_row, NAMES), *streams, *levels])


def test_footage() -> None:
    result = bench("segment")
    (file,) = result["files"]
    shares = (file[f"{what}_share"] for what in ("decoding", "model", "rest"))
    ratios = (file[f"vpr_over_{other}"] for other in ("content", "content_pyav"))
    cells = [f"{ratio:.2f}" for ratio in ratios] + [f"{share:.1%}" for share in shares]
    for cell in (f"{file['vpr_fps']:,.0f}", *cells, f"{result['growth_mb']:.1f} MB"):
        assert f"| {cell} |" in PAGE


@pytest.mark.parametrize("name", ["moving-ball", "3dsd"])
def test_rollouts(name: str) -> None:
    found = bench(f"rollout-{name}")["by_sequences"]
    one, many = (f"{found[n]['rollout_over_decoding']:.2f}" for n in ("1", "16"))
    assert f"{one} and {many} (`cpu/{name}`" in PAGE


def test_readme_says_the_same() -> None:
    paper, stream = bench("train-paper"), bench("stream-cpu")
    assert f"{paper['vpr_over_limit']:.2f} times" in README
    assert f"{stream['frames_per_second']:,.0f} frames per second" in README
