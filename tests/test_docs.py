"""Every link and every picture of the docs leads somewhere; the gallery shows what was made."""

import re
from pathlib import Path

import pytest

from vpr.experiments import EXPERIMENTS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
RESULTS = DOCS.parent / "results"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if not link.startswith("https://")]
    assert not [link for link in inside if not (DOCS / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", page.read_text("utf-8")):
        other = DOCS / target if target else page
        assert heading in _headings(other.read_text("utf-8")), f"{page.name}: {target}#{heading}"


def _headings(text: str) -> set[str]:
    """As GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_gallery_shows_every_figure_of_what_models_make() -> None:
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    makers = ("rollouts", "samples", "disentanglement", "prediction", "empty-prior")
    for name in (*makers, "fixed-interval", "imagination", "montage"):
        assert name in EXPERIMENTS
        figure = f"results/{name}/{name}.png"
        assert (figure in page) == (DOCS.parent / figure).exists(), name
