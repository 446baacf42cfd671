"""`python -m benchmarks.code_size`: which functions are counted, and how many lines they have."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks import code_size
from benchmarks.recorded_calls import lines_of, recorded_calls
from vpr.beliefs import Belief, kl
from vpr.utils import tree


def test_functions_that_run_are_counted_once() -> None:
    one = Belief(torch.zeros(2, 3), torch.ones(2, 3))
    with recorded_calls() as recorder:
        kl(one, one)
        kl(one, one)
    lines = lines_of(recorder.calls, code_size.PACKAGE)
    (path,) = lines
    text = path.read_text().splitlines()
    assert path.name == "beliefs.py"
    assert text[min(lines[path]) - 1].startswith("def kl(")
    assert 2 < len(lines[path]) < 20


def test_functions_outside_the_package_are_not_counted() -> None:
    with recorded_calls() as recorder:
        Path("a").with_suffix(".b")
    assert recorder.calls
    assert not lines_of(recorder.calls, code_size.PACKAGE)


def test_functions_per_frame_are_those_called_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    frames: dict[str, int] = {}

    def write_scenes(path: Path, count: int) -> None:
        frames[str(path)] = count

    def call(footage: str) -> None:
        tree.tree_rows((), torch.arange(1), 1)  # once
        for _ in range(frames[footage]):
            tree.tree_put((), torch.arange(1), (), 1)

    monkeypatch.setattr(code_size, "write_scenes", write_scenes)
    every, per_frame = code_size.lines_of_segmentation(call).values()
    source = Path(tree.__file__)
    assert per_frame[source] < every[source]
    text = source.read_text().splitlines()
    assert text[min(per_frame[source]) - 1].startswith("def tree_put(")


def test_the_package_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code_size.show_package()
    out = capsys.readouterr().out
    assert "Top-level modules: " in out
    assert "beliefs, block" in out
    assert "experiments/" in out
