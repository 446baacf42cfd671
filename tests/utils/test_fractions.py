"""Exact numbers that do not take all memory."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from vpr.errors import VPRError
from vpr.evaluation.boundary_files import read_marks
from vpr.utils.fractions import bounded_fraction


@pytest.mark.parametrize("text", ["0.2", "1/25", "-3", "1.5e-3", "30000/1001", "2E2"])
def test_numbers_are_exact(text: str) -> None:
    assert bounded_fraction(text) == Fraction(text)


@pytest.mark.parametrize("text", ["1e999999999", "1e-99999", "1E+0012345", "1" * 101, "1e1_0000"])
def test_numbers_that_are_too_long(text: str) -> None:
    with pytest.raises(ValueError, match="too long"):
        bounded_fraction(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"time": 1e999999999, "level": 2}]'),
        ("a.json", "[" * 5000),
        ("a.jsonl", '{"time": 1e999999999, "level": 2}'),
        ("a.csv", "time,level\n1e999999999,2\n"),
    ],
)
def test_boundaries_of_strangers_are_one_line(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(VPRError):
        read_marks(tmp_path / name)
