"""A timeline as files, tables and figures, and back."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
from dataclasses import fields
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import event, relaxed, timeline
from vpr import Timeline, VPRError
from vpr.segmenting.timeline import Event
from vpr.segmenting.timeline_json import from_dict, timeline_json

positive = st.floats(0, 1e6, width=32)
events = st.builds(
    Event,
    st.integers(0, 10**6),
    st.fractions(0, 10**6),
    st.integers(2, 4),
    st.sampled_from(["expected", "unexpected", "both"]),
    positive,
    positive,
    positive | st.just(math.inf),
    probability=st.none() | st.floats(0, 1),
)
WHOLE = timeline([event(5), event(5, 3), event(50)])


def assert_same(one: Timeline, other: Timeline) -> None:
    for each in fields(Timeline):
        a, b = getattr(one, each.name), getattr(other, each.name)
        if each.name == "curves":
            assert a.keys() == b.keys()
            for level in a:
                for x, y in zip(a[level], b[level], strict=True):
                    np.testing.assert_array_equal(x, y)
                    assert x.dtype == y.dtype
        elif each.name == "times":
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@relaxed
@given(st.lists(events, max_size=5))
def test_json_is_exact(found: list[Event]) -> None:
    whole = timeline(found, frames=9)
    assert_same(from_dict(json.loads("".join(timeline_json(whole)))), whole)


def test_json_file(tmp_path: Path) -> None:
    WHOLE.to_json(tmp_path / "ä.json")
    assert_same(Timeline.from_json(tmp_path / "ä.json"), WHOLE)
    plain = json.loads((tmp_path / "ä.json").read_text(encoding="utf-8"))
    assert plain["events"][0] | {"score": 0} == {
        **{"frame": 5, "time": 0.2, "exact": "1/5", "level": 2, "kind": "both", "score": 0},
        **{"kl_static": 2.0, "kl_change": 1.0, "threshold": 1.0},
        **{"fit": math.log(2), "surprise": math.log(2), "probability": None},
    }


def test_under_a_clock_there_is_no_threshold(tmp_path: Path) -> None:
    ticking = event(3)._replace(kind="clock", threshold=math.nan)
    timeline([ticking]).to_json(tmp_path / "a.json")
    (read,) = Timeline.from_json(tmp_path / "a.json").boundaries
    assert math.isnan(read.threshold)
    assert read._replace(threshold=0.0) == ticking._replace(threshold=0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "x"}, "is not a timeline"),
        ({"format": 9}, "upgrade"),
        ({"events": 3}, "not a complete timeline"),
    ],
)
def test_other_json_raises(tmp_path: Path, change: dict[str, object], words: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(json.loads("".join(timeline_json(WHOLE))) | change))
    with pytest.raises(VPRError, match=words):
        Timeline.from_json(tmp_path / "a.json")


def test_csv(tmp_path: Path) -> None:
    third = event(9, time=Fraction(1, 3))
    timeline([third]).to_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["frame"] == "9"
    assert Fraction(row["exact"]) == third.time
    assert float(row["time"]) == 1 / 3
    assert float(row["score"]) == third.score


def test_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    table = WHOLE.to_pandas()
    assert list(table["frame"]) == [5, 5, 50]
    assert list(table["level"]) == [2, 3, 2]
    assert list(timeline([]).to_pandas().columns) == list(table.columns)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(VPRError, match="pip install pandas"):
        WHOLE.to_pandas()


def test_plot_has_a_row_a_level_with_its_curves() -> None:
    figure = WHOLE.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["level 3", "level 2"]
    for axes in figure.axes:
        assert {line.get_label() for line in axes.get_lines()} >= {"D_st", "D_ch", "threshold"}
    shown = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert "both: 2" in shown


class Marks(HTMLParser):
    """Raises an error for unclosed tags; counts tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "img":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("shown", [WHOLE, timeline([]), timeline([], frames=1, levels=2)])
def test_notebook_summary_is_valid_and_self_contained(shown: Timeline) -> None:
    page = Marks()
    page.feed(shown._repr_html_())
    assert page.open == []
    assert page.seen.count("svg") == len(shown.reported_levels)
    assert page.seen.count("title") == len(shown.boundaries)
    assert all(address.startswith("data:") for address in page.addresses)
    assert "script" not in page.seen


def test_notebook_view_escapes_names() -> None:
    from dataclasses import replace

    assert "<b>x" not in replace(WHOLE, model="<b>x")._repr_html_()


def test_html_is_a_page(tmp_path: Path) -> None:
    WHOLE.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_repr_is_one_line() -> None:
    assert repr(WHOLE).count("\n") == 0
    assert len(repr(WHOLE)) < 200
    assert f"level 2: {len(WHOLE.events(2))}" in repr(WHOLE)
