"""Untrusted timelines: invalid files give a one-line error, and no text becomes markup."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from tests.segmenting.made import event, timeline
from vpr import Timeline, VPRError
from vpr.segmenting.chapters import Chapter
from vpr.segmenting.timeline import Event
from vpr.segmenting.webvtt import webvtt

SCRIPT = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("timeline") / "whole.json"
    timeline([event(3), event(9, level=3), event(20)], frames=40).to_json(path)
    return path


def written(whole: Path, tmp_path: Path, change: dict[str, Any], first: dict[str, Any]) -> Path:
    data = json.loads(whole.read_text()) | change
    assert data["events"], "nothing to change"
    data["events"][0] |= first
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    return path


def test_the_timeline_itself_is_read(whole: Path) -> None:
    assert Timeline.from_json(whole).boundaries


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({}, {"kind": SCRIPT}),
        ({}, {"kind": "=cmd|' /C calc'!A0"}),
        ({}, {"kind": "expected\n\n00:00 --> 00:01\nx"}),
        ({}, {"kind": None}),
        ({}, {"kind": ["expected"]}),
        ({}, {"frame": 10**9}),
        ({}, {"frame": -1}),
        ({}, {"level": 99}),
        ({}, {"exact": "1e999999999"}),
        ({}, {"exact": "1/0"}),
        ({}, {"exact": SCRIPT}),
        ({}, {"exact": "1" * 10_000}),
        ({}, {"kl_static": float("nan")}),
        ({"levels": 10**9}, {}),
        ({"levels": float("inf")}, {}),
        ({"frames": 10**9}, {}),
        ({"source": {"a": 1}}, {}),
        ({"model": None}, {}),
        ({"trouble": 7}, {}),
        ({"undecodable": -1}, {}),
        ({"span": ["2", "1"]}, {}),
        ({"span": ["1"]}, {}),
        ({"times": b64encode(np.full(40, np.nan)).decode()}, {}),
        ({"curves": {"2": {"kl_static": "", "kl_change": "", "threshold": ""}}}, {}),
        ({"curves": []}, {}),
        ({"pictures": {"99": ""}}, {}),
        ({"pictures": {"1": "?"}}, {}),
    ],
)
def test_what_is_no_timeline_is_one_line(
    whole: Path, tmp_path: Path, change: dict[str, Any], first: dict[str, Any]
) -> None:
    start = perf_counter()
    with pytest.raises(VPRError, match="is not a complete timeline") as error:
        Timeline.from_json(written(whole, tmp_path, change, first))
    assert perf_counter() - start < 5
    assert len(str(error.value)) < 500


def test_names_are_text_in_all_formats(whole: Path, tmp_path: Path) -> None:
    evil = f"</script>{SCRIPT}\n\n-->\udcff"
    change = {"source": evil, "model": evil, "trouble": evil}
    read = Timeline.from_json(written(whole, tmp_path, change, {}))
    for ending in ("html", "csv", "json", "vtt", "ffmeta"):
        names = {"vtt": read.to_webvtt, "ffmeta": read.to_ffmetadata}
        names.get(ending, getattr(read, f"to_{ending}", None))(tmp_path / f"a.{ending}")
    assert SCRIPT not in (tmp_path / "a.html").read_text()
    assert SCRIPT not in read._repr_html_()
    assert (tmp_path / "a.level2.vtt").read_text().count("\n\n") == len(read.events(2)) + 1


@pytest.mark.parametrize("picture", [b"", b"GIF89a" + bytes(20), b"\xff\xd8\xff" + bytes(99)])
def test_pictures_that_are_none_are_shown_as_none(
    whole: Path, tmp_path: Path, picture: bytes
) -> None:
    change = {"pictures": {"0": b64encode(picture).decode()}}
    Timeline.from_json(written(whole, tmp_path, change, {})).to_html(tmp_path / "a.html")


def test_an_event_of_an_unknown_kind_is_no_part_of_a_timeline() -> None:
    strange = Event(0, Fraction(0), 2, SCRIPT, 1.0, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(VPRError, match="unknown kind"):
        Timeline("a", "b", 2, 1, np.zeros(1), [strange])


def test_the_title_of_a_chapter_stays_in_its_cue() -> None:
    chapter = Chapter(Fraction(0), Fraction(1), "a\n\n00:09.000 --> 00:10.000\n<b>")
    (_, cue) = webvtt([chapter], "x")
    assert cue.count("\n") == 3
    assert re.search(r"a 00:09.000 --&gt; 00:10.000 &lt;b&gt;\n$", cue)
