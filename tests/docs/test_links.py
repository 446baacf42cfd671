"""Every link and every picture of the docs leads somewhere; the gallery shows what was made."""

import re
from pathlib import Path

import pytest

from vpr.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING"))]
PAGES += [ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "results" / "README.md"]


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if not link.startswith("https://")]
    assert not [link for link in inside if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text("utf-8")):
        other = page.parent / target if target else page
        assert heading in _headings(other.read_text("utf-8")), f"{page.name}: {target}#{heading}"


def _headings(text: str) -> set[str]:
    """As GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_experiment_is_described() -> None:
    page = (DOCS / "results" / "experiments.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == list(EXPERIMENTS)


def test_the_gallery_shows_every_figure_of_what_models_make() -> None:
    page = (DOCS / "results" / "gallery.md").read_text(encoding="utf-8")
    makers = ("rollouts", "samples", "disentanglement", "prediction", "empty-prior")
    events = ("3dsd-events", "maze-events", "nested-worlds")
    for name in (*events, *makers, "fixed-interval"):
        assert f"`vpr reproduce {name}`" in page
        figure = f"results/{name}/{name}.png"
        assert (figure in page) == (ROOT / figure).exists(), name
