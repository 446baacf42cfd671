"""What `import vpr` shows: few names, and all of them there; and what the model may import."""

import ast
import subprocess
import sys
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


IMPORT_EACH = """
import importlib, pkgutil, sys, vpr
optional = {"miniworld", "pyglet", "scenedetect"}
modules = pkgutil.walk_packages(vpr.__path__, "vpr.")
names = [each.name for each in modules if "__main__" not in each.name]
for name in names:
    for loaded in [m for m in sys.modules if m == "vpr" or m.startswith("vpr.")]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in optional:
            raise
print(len(names))
"""


def test_every_module_can_be_imported_first() -> None:
    """A circular import fails or works depending on which module comes first."""
    command = [sys.executable, "-c", IMPORT_EACH]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-800:]
    assert int(found.stdout) > 100
