"""The digest of the training code."""

from __future__ import annotations

from pathlib import Path

import pytest

from vpr.utils.code_digest import PACKAGE, TRAINING_CODE, code_digest

SOURCE = '''"""A module."""

def double(x):
    """Twice x."""
    return 2 * x  # a comment
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name in TRAINING_CODE:
        file = tmp_path / name if name.endswith(".py") else tmp_path / name / "part.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SOURCE)
    return tmp_path


def digest(package: Path) -> str:
    return code_digest.__wrapped__(package)


@pytest.mark.parametrize("name", ["model.py", "nets/part.py"])
def test_a_changed_statement_changes_the_digest(package: Path, name: str) -> None:
    before = digest(package)
    (package / name).write_text(SOURCE.replace("2 *", "3 *"))
    assert digest(package) != before


def test_a_new_file_changes_the_digest(package: Path) -> None:
    before = digest(package)
    (package / "data/more.py").write_text(SOURCE)
    assert digest(package) != before


def test_comments_docstrings_and_other_files_do_not_count(package: Path) -> None:
    before = digest(package)
    (package / "model.py").write_text("def double(x):\n    return (2\n        * x)\n")
    (package / "errors.py").write_text(SOURCE)
    assert digest(package) == before


def test_the_parts_of_the_package_exist() -> None:
    assert len(code_digest()) == 12
    assert all((PACKAGE / name).exists() for name in TRAINING_CODE)
