"""The API reference lists every public name, and every page is in the navigation of the site."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    "vpr": "vpr.md",
    "vpr.baselines": "baselines.md",
    "vpr.data": "data.md",
    "vpr.evaluation": "evaluation.md",
}
ENTRY = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


@pytest.mark.parametrize("module", PAGES)
def test_every_public_name_is_listed_once(module: str) -> None:
    page = (DOCS / "reference" / PAGES[module]).read_text(encoding="utf-8")
    public = [f"{module}.{name}" for name in importlib.import_module(module).__all__]
    assert sorted(ENTRY.findall(page)) == sorted(public)


def test_listed_names_exist() -> None:
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))]
    entries = [entry for page in pages for entry in ENTRY.findall(page)]
    assert entries
    for entry in entries:
        assert hasattr(*_owner(entry)), entry


# Python blocks import names, and text mentions them.
IMPORTED = re.compile(r"from (vpr[\w.]*) import ([\w, ]+)")
MENTIONED = re.compile(r"`(vpr(?:\.\w+)+)\(?")


def test_every_name_that_a_page_uses_is_in_the_reference() -> None:
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
    entries = {entry for text in texts.values() for entry in ENTRY.findall(text)}
    for page, text in texts.items():
        if "before-one-recipe" in page.name:  # about an earlier version
            continue
        names = [f"{m[1]}.{n.strip()}" for m in IMPORTED.finditer(text) for n in m[2].split(",")]
        names += MENTIONED.findall(text)
        for name in names:
            assert name in entries or _is_part(name, entries), f"{page.name}: {name}"


MEMBER = re.compile(r"`([A-Z]\w+)\.([a-z_]\w*)")


def test_members_of_classes_that_a_page_mentions_exist() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    entries = {entry for text in texts.values() for entry in ENTRY.findall(text)}
    listed = {entry.rpartition(".")[2]: getattr(*_owner(entry)) for entry in entries}
    mentioned = [(page, *each) for page, text in texts.items() for each in MEMBER.findall(text)]
    mentioned = [each for each in mentioned if isinstance(listed.get(each[1]), type)]
    assert len(mentioned) > 5
    for page, name, member in mentioned:
        assert hasattr(listed[name], member), f"{page.name}: {name}.{member}"


def _is_part(name: str, entries: set[str]) -> bool:
    """Whether it is a member of a listed class, or a module."""
    if name.rpartition(".")[0] in entries:
        return True
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def _owner(entry: str) -> tuple[object, str]:
    """The module or class that should have the name, and the name."""
    path, _, name = entry.rpartition(".")
    try:
        return importlib.import_module(path), name
    except ModuleNotFoundError:
        module, _, cls = path.rpartition(".")
        return getattr(importlib.import_module(module), cls), name


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = set(re.findall(r"([\w./-]+\.md)", navigation))
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"assets/README.md"}
    assert pages <= listed
    outside = {"CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "results/README.md"}
    assert listed - pages == outside | {"results/footage/README.md"}
