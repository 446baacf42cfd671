"""The command of docs/how-to/report.md runs, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from vpr.cli import main

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (DOCS / "report.md").read_text(encoding="utf-8")


def test_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"```\nvpr (.*)\n```", PAGE)
    assert main([*command.split(), "--sequences", "2", "--length", "6"]) == 0
    (made,) = tmp_path.iterdir()
    assert f"writes `{made.name}`" in PAGE


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert all((DOCS / link).is_file() for link in links)
