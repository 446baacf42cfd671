"""Where a result comes from."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from vpr.utils.provenance import provenance


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_has_commit_versions_and_machine() -> None:
    found = provenance()
    assert found.keys() >= {"commit", "vpr", "torch", "numpy", "python", "cpu", "instructions"}
    assert all(found.values())
    assert re.fullmatch(r"unknown|[0-9a-f]{40}(-dirty)?", found["commit"])


def test_a_changed_source_is_marked(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    package = tmp_path / "package"
    package.mkdir()
    (package / "file.py").write_text("1\n")
    (tmp_path / "results.md").write_text("1\n")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "first")
    commit = _git(tmp_path, "rev-parse", "HEAD")
    assert provenance(package)["commit"] == commit
    (tmp_path / "results.md").write_text("2\n")
    assert provenance(package)["commit"] == commit
    (package / "file.py").write_text("2\n")
    assert provenance(package)["commit"] == f"{commit}-dirty"


def test_without_a_repository_the_commit_is_unknown(tmp_path: Path) -> None:
    assert provenance(tmp_path)["commit"] == "unknown"
