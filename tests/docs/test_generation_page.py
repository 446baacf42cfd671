"""The Python and the commands of docs/guide/generation.md run, and its pictures are there."""

import re
import shlex
from pathlib import Path

import pytest

from vpr.cli import main

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGE = (GUIDE / "generation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
SHORT = {"rollout": ["--steps", "2"], "sample": ["--n", "2"]}


def test_python_runs() -> None:
    (text,) = (text for kind, text in BLOCKS if kind == "python")
    exec(compile(text, "generation.md", "exec"), {})


def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines]
    assert {words[0] for words in commands} == set(SHORT)
    for words in commands:
        assert main([*words, *SHORT[words[0]]]) == 0


def test_pictures_and_pages_are_there() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert len([link for link in links if link.startswith("../images/")]) == 3
    assert all((GUIDE / link).is_file() for link in links)
