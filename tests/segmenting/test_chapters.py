"""Chapters, as WebVTT and as ffmpeg has them."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segmenting.made import event, relaxed, timeline, write_video
from vpr.segmenting.chapters import Chapter, Chapters, rounded
from vpr.segmenting.ffmetadata import ffmetadata
from vpr.segmenting.webvtt import webvtt

STAMP = r"(\d\d+):([0-5]\d):([0-5]\d)\.(\d{3})"


def parsed_vtt(text: str) -> list[tuple[int, int, str]]:
    """Milliseconds and text of each cue; strict."""
    header, *cues = text.rstrip("\n").split("\n\n")
    assert re.fullmatch(r"WEBVTT - [^\n]*", header)
    assert "-->" not in header
    found = []
    for cue in cues:
        match = re.fullmatch(rf"{STAMP} --> {STAMP}\n([^\n]+)", cue)
        assert match is not None, cue
        h, m, s, ms, *end = map(int, match.groups()[:-1])
        start = ((h * 60 + m) * 60 + s) * 1000 + ms
        found.append((start, ((end[0] * 60 + end[1]) * 60 + end[2]) * 1000 + end[3], match[9]))
    return found


def parsed_ffmetadata(text: str) -> list[tuple[Fraction, Fraction, str]]:
    head, *parts = text.split("[CHAPTER]\n")
    assert head.startswith(";FFMETADATA1\n")
    found = []
    for part in parts:
        match = re.fullmatch(
            r"TIMEBASE=(\d+)/(\d+)\nSTART=(-?\d+)\nEND=(-?\d+)\ntitle=(.*)\n", part, re.S
        )
        assert match is not None, part
        base = Fraction(int(match[1]), int(match[2]))
        assert max(base.numerator, base.denominator) < 2**31
        found.append((int(match[3]) * base, int(match[4]) * base, match[5]))
    return found


times = st.lists(st.fractions(0, 90_000, max_denominator=30_000), min_size=1, max_size=5)


@relaxed
@given(times)
def test_chapters_follow_each_other_from_start_to_end(moments: list[Fraction]) -> None:
    ordered = sorted(set(moments))
    events = [event(n + 1, time=time) for n, time in enumerate(ordered)]
    whole = replace(timeline(events), span=(Fraction(0), ordered[-1] + 1))
    found = Chapters(whole, 2)
    assert [c.start for c in found] == [Fraction(0), *ordered]
    assert [c.end for c in found] == [*ordered, ordered[-1] + 1]
    cues = parsed_vtt("".join(webvtt(found, "a --> b\n\nc")))
    assert all(start < end for start, end, _ in cues)
    assert all(
        abs(a - 1000 * c.start) <= Fraction(1, 2) for (a, _, _), c in zip(cues, found, strict=True)
    )
    exact = parsed_ffmetadata("".join(ffmetadata(found, "x")))
    tolerance = Fraction(1, 10**9)  # five denominators of 30,000 may not fit into ffmpeg's numbers
    for (start, end, _), chapter in zip(exact, found, strict=True):
        assert abs(start - chapter.start) < tolerance
        assert abs(end - chapter.end) < tolerance


def test_times_of_one_file_are_exact_in_ffmetadata() -> None:
    ntsc = [Fraction(1001 * n, 30_000) for n in (0, 1, 7, 100_003)]
    found = [Chapter(a, b, "c") for a, b in itertools.pairwise(ntsc)]
    read = parsed_ffmetadata("".join(ffmetadata(found, "x")))
    assert [(start, end) for start, end, _ in read] == [(c.start, c.end) for c in found]


@relaxed
@given(st.fractions(-100, 100, max_denominator=4000), st.sampled_from([1, 2, 7, 1000, 10**9]))
def test_rounded_as_fractions_are(time: Fraction, units: int) -> None:
    assert rounded(time, units) == round(time * units)
    half = Fraction(time.numerator, 2 * units)
    assert rounded(half, units) == round(half * units)


def test_special_letters_are_escaped() -> None:
    text = "".join(ffmetadata([], "a=b;c#d\\e\nf"))
    assert text == ";FFMETADATA1\ntitle=a\\=b\\;c\\#d\\\\e\\\nf\n"


def test_a_file_a_level(tmp_path: Path) -> None:
    whole = timeline([event(5), event(5, 3), event(50)])
    paths = whole.to_webvtt(tmp_path / "ä clip.mp4.vtt")
    assert [path.name for path in paths] == ["ä clip.mp4.level2.vtt", "ä clip.mp4.level3.vtt"]
    two, three = (parsed_vtt(path.read_text(encoding="utf-8")) for path in paths)
    assert [(start, end) for start, end, _ in two] == [(0, 200), (200, 2000), (2000, 4000)]
    assert [start for start, _, _ in three] == [0, 200]
    names = ["start", "event 1 (both)", "event 2 (both)"]  # numbered as on the page
    assert [title for *_, title in two] == [f"Level 2, {name}" for name in names]


def test_a_chapter_without_length_lasts_a_millisecond_and_no_time_is_below_zero() -> None:
    one = replace(timeline([], frames=1), span=(Fraction(-1), Fraction(-1)))
    assert parsed_vtt("".join(webvtt(Chapters(one, 2), "x")))[0][:2] == (0, 1)


def test_no_frames_no_chapters() -> None:
    nothing = replace(timeline([]), frames=0)
    assert list(Chapters(nothing, 2)) == []


def test_pyav_reads_the_chapters_and_writes_them_into_a_file(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    whole = timeline([event(5, time=Fraction(1001, 30_000)), event(50, time=Fraction(50, 25))])
    path = whole.to_ffmetadata(tmp_path / "a.ffmeta")[0]
    with av.open(str(path), format="ffmetadata") as file:
        read = file.chapters()
    wanted = [(c.start, c.end, c.title) for c in Chapters(whole, 2)]
    assert [
        (c["start"] * c["time_base"], c["end"] * c["time_base"], c["metadata"]["title"])
        for c in read
    ] == wanted
    write_video(tmp_path / "plain.mp4", np.zeros((100, 16, 16, 3), np.uint8))
    with (
        av.open(str(tmp_path / "plain.mp4")) as plain,
        av.open(str(tmp_path / "b.mkv"), "w") as out,
    ):
        stream = out.add_stream_from_template(plain.streams.video[0])
        out.set_chapters(read)
        for packet in plain.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    with av.open(str(tmp_path / "b.mkv")) as muxed:
        again = [
            (float(c["start"] * c["time_base"]), c["metadata"]["title"]) for c in muxed.chapters()
        ]
    assert [title for _, title in again] == [title for *_, title in wanted]
    np.testing.assert_allclose([t for t, _ in again], [float(s) for s, *_ in wanted], atol=1e-6)
