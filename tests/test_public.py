"""What `import vpr` shows: few names, and all of them there; and what the model may import."""

import ast
from pathlib import Path

import pytest

import vpr

SOURCE = Path(vpr.__file__).parent


def test_ten_names_or_fewer() -> None:
    assert len(vpr.__all__) <= 10
    assert all(hasattr(vpr, name) for name in vpr.__all__)


def imported(path: Path) -> set[str]:
    """The modules, and names in modules, that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


@pytest.mark.parametrize("name", ["model", "block", "events", "state"])
def test_the_model_does_not_know_how_it_is_trained(name: str) -> None:
    modules = imported(SOURCE / f"{name}.py")
    assert any(module.startswith("torch") for module in modules)
    training = ("vpr.training", "vpr.presets")
    assert [module for module in modules if module.startswith(training)] == []
