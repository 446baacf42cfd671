"""The results of the footage model: the page, the sentences that repeat it, and the protocol."""

import json
from pathlib import Path

import pytest

from vpr.experiments.footage.real_clips import CLIPS
from vpr.experiments.footage.results_page import RESULTS, page, summary, write_page

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results" / "footage"


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    read: dict[str, object] = json.loads((FOLDER / RESULTS).read_text())
    return read


def test_the_page_is_made_from_the_results(results: dict[str, object], tmp_path: Path) -> None:
    assert (FOLDER / "README.md").read_text() == page(results)
    (tmp_path / RESULTS).write_text(json.dumps(results))
    write_page(tmp_path)
    assert (tmp_path / "reliability.png").exists()


@pytest.mark.parametrize("name", ["README.md", "docs/guide/segmentation.md"])
def test_other_pages_repeat_the_results(name: str, results: dict[str, object]) -> None:
    assert summary(results) in " ".join((ROOT / name).read_text().split())


def test_the_test_film_is_large_enough(results: dict[str, dict[str, dict[str, int]]]) -> None:
    film = results["films"]["test"]
    assert film["cut"] >= 200
    assert film["dissolve"] + film["fade"] >= 100


def test_no_clip_is_in_two_films() -> None:
    parts: dict[str, set[str]] = {}
    for clip in CLIPS:
        parts.setdefault(clip.file, set()).add(clip.part)
    assert all(len(each) == 1 for each in parts.values())
