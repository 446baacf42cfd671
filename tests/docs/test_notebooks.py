"""The notebooks of the docs run, with two steps of training, and contain no results."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
STEPS = "STEPS = 200"


def code(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pieces = code(notebook)
    assert STEPS in pieces[0]
    names: dict[str, object] = {}
    for piece in pieces:
        text = piece.replace(STEPS, "STEPS = 2")
        exec(compile(ast.parse(text), notebook.name, "exec"), names)
    assert names["timeline"].reported_levels == [2, 3]  # type: ignore[attr-defined]


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["image-features", "sensor-data"]
