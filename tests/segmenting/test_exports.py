"""Files for ELAN, Label Studio and video editors, read by the programs' own libraries."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.segmenting.made import event, timeline
from vpr import Timeline, VPRError
from vpr.evaluation.boundary_files import read_marks
from vpr.segmenting.chapters import frame_rate
from vpr.segmenting.edl import timecode
from vpr.segmenting.exports import FORMATS, parse_formats, write_exports

EVENTS = [event(5), event(5, 3), event(50)]


def at_rate(rate: Fraction, frames: int = 100) -> Timeline:
    """Events at frames 5 (levels 2 and 3) and 50 (level 2)."""
    events = [each._replace(time=each.frame / rate) for each in EVENTS]
    times = np.array([float(n / rate) for n in range(frames)])
    return replace(timeline(events, frames), times=times, span=(Fraction(0), frames / rate))


NTSC = Fraction(30_000, 1001)


@pytest.mark.parametrize("rate", [Fraction(25), NTSC, Fraction(25, 2), Fraction(24_000, 1001)])
def test_a_constant_rate_is_exact(rate: Fraction) -> None:
    assert frame_rate(at_rate(rate)) == rate


def test_the_rate_of_times_in_milliseconds_and_of_variable_rates() -> None:
    rounded = at_rate(NTSC, 1000)
    times = rounded.times.round(3)
    assert frame_rate(replace(rounded, times=times, span=(Fraction(0), Fraction(33367, 1000)))) == (
        NTSC
    )
    uneven = np.cumsum([0.02, 0.08] * 50)
    assert (
        frame_rate(replace(at_rate(Fraction(25)), times=uneven, span=(Fraction(0), Fraction(5))))
        == 20
    )
    odd = replace(at_rate(Fraction(25)), times=uneven, span=(Fraction(0), Fraction(47, 10)))
    assert frame_rate(odd) == 21
    assert frame_rate(replace(timeline([]), frames=1)) == 25


def test_elan_reads_a_tier_per_level(tmp_path: Path) -> None:
    elan = pytest.importorskip("pympi.Elan")
    (tmp_path / "ä & clip.mp4").touch()
    source = str(tmp_path / "ä & clip.mp4")
    replace(at_rate(NTSC), source=source).to_eaf(tmp_path / "events" / "a.eaf")
    read = elan.Eaf(str(tmp_path / "events" / "a.eaf"))
    assert list(read.get_tier_names()) == ["Level 2", "Level 3"]
    assert sorted(read.get_annotation_data_for_tier("Level 2")) == [
        (0, 167, "Level 2, start"),
        (167, 1668, "Level 2, event 1 (both)"),
        (1668, 3337, "Level 2, event 2 (both)"),
    ]
    (media,) = read.get_linked_files()
    assert media["MEDIA_URL"].startswith("file:///")
    assert media["RELATIVE_MEDIA_URL"] == "./../ä & clip.mp4"
    assert media["MIME_TYPE"] == "video/mp4"


def test_time_slots_of_elan_are_in_order_and_no_annotation_is_empty(tmp_path: Path) -> None:
    close = [event(5, time=Fraction(1, 5)), event(6, time=Fraction(1, 5) + Fraction(1, 10_000))]
    timeline(close).to_eaf(tmp_path / "a.eaf")
    root = ET.parse(tmp_path / "a.eaf").getroot()
    times = {slot.get("TIME_SLOT_ID"): int(slot.get("TIME_VALUE", "")) for slot in root[1]}
    assert list(times.values()) == sorted(times.values())
    for each in root.iter("ALIGNABLE_ANNOTATION"):
        assert times[each.get("TIME_SLOT_REF1")] < times[each.get("TIME_SLOT_REF2")]


def test_label_studio_counts_frames_from_1(tmp_path: Path) -> None:
    at_rate(NTSC).to_label_studio(tmp_path / "a.json")
    (task,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert task["data"] == {"video": "films/ä clip.mp4"}
    (prediction,) = task["predictions"]
    assert prediction["model_version"] == "a model"
    regions = [each["value"] for each in prediction["result"]]
    assert [each["timelinelabels"] for each in regions] == [["Level 2"]] * 3 + [["Level 3"]] * 2
    spans = [(each["ranges"][0]["start"], each["ranges"][0]["end"]) for each in regions]
    assert spans == [(1, 5), (6, 50), (51, 100), (1, 5), (6, 100)]
    assert len({each["id"] for each in prediction["result"]}) == 5


@pytest.mark.parametrize("rate", [Fraction(25), NTSC, Fraction(25, 2)])
def test_opentimelineio_reads_a_track_per_level(tmp_path: Path, rate: Fraction) -> None:
    otio = pytest.importorskip("opentimelineio")
    at_rate(rate).to_otio(tmp_path / "a.otio")
    read = otio.adapters.read_from_file(str(tmp_path / "a.otio"))
    assert read.name == "ä clip.mp4"
    assert [track.name for track in read.video_tracks()] == ["Level 2", "Level 3"]
    clips = list(read.video_tracks()[0].find_clips())
    assert [clip.source_range.start_time.to_frames() for clip in clips] == [0, 5, 50]
    assert [clip.source_range.end_time_exclusive().to_frames() for clip in clips] == [5, 50, 100]
    assert clips[1].source_range.start_time.rate == pytest.approx(float(rate))
    assert clips[1].metadata["vpr"]["kind"] == "both"
    assert clips[1].available_range().duration.to_frames() == 100
    assert read.duration().to_frames() == 100
    assert clips[0].media_reference.target_url == "films/%C3%A4%20clip.mp4"
    again = json.loads(otio.adapters.write_to_string(read, "otio_json"))
    assert again["tracks"]["children"][0]["children"][2]["name"] == "Level 2, event 2 (both)"


LINE = re.compile(r"(\d{3})  AX       V     C        (\S+) (\S+) (\S+) (\S+)")


@pytest.mark.parametrize(
    ("rate", "spans"),
    [
        (Fraction(25), ["00:00:00:00 00:00:00:05", "00:00:00:05 00:00:02:00"]),
        (NTSC, ["00:00:00:00 00:00:00:05", "00:00:00:05 00:00:01:20"]),  # frame 50 of 30 a second
        (Fraction(25, 2), ["00:00:00:00 00:00:00:05", "00:00:00:05 00:00:04:00"]),  # 4 s
    ],
)
def test_edl_has_a_cut_for_each_event(tmp_path: Path, rate: Fraction, spans: list[str]) -> None:
    two, three = at_rate(rate).to_edl(tmp_path / "a.edl")
    assert (two.name, three.name) == ("a.level2.edl", "a.level3.edl")
    text = two.read_text(encoding="utf-8")
    assert text.startswith("TITLE: ä clip.mp4\nFCM: NON-DROP FRAME\n")
    lines = [LINE.fullmatch(line) for line in text.splitlines() if line[:1].isdigit()]
    assert [line[1] for line in lines if line] == ["001", "002", "003"]
    assert [f"{line[2]} {line[3]}" for line in lines if line][:2] == spans
    assert all((line[2], line[3]) == (line[4], line[5]) for line in lines if line)
    assert "* COMMENT: Level 2, event 1 (both)\n" in text


def test_timecodes() -> None:
    assert timecode(25 * 3600 + 24, 25) == "01:00:00:24"
    assert timecode(30 * 59 + 29, 30) == "00:00:59:29"


def test_footage_without_frames_and_without_events(tmp_path: Path) -> None:
    for number, whole in enumerate((timeline([]), replace(timeline([]), frames=0))):
        paths = write_exports(whole, tmp_path / f"a{number}", FORMATS)
        assert all(path.exists() for path in paths)
        assert read_marks(tmp_path / f"a{number}.eaf").marks == []


def test_formats_have_names() -> None:
    assert parse_formats("edl, eaf,edl") == ("edl", "eaf")
    with pytest.raises(VPRError, match="no format 'avid': --export takes eaf, label-studio"):
        parse_formats("eaf,avid")


def test_every_format_is_read_back(tmp_path: Path) -> None:
    """What `vpr evaluate-boundaries` reads of our own files are the events."""
    whole = at_rate(NTSC)
    write_exports(whole, tmp_path / "a", FORMATS)
    wanted = sorted((each.level, each.frame, each.time) for each in EVENTS_AT_NTSC)
    eaf = read_marks(tmp_path / "a.eaf").marks
    assert sorted(mark.level or 0 for mark in eaf) == [level for level, _, _ in wanted]
    for mark, (_, _, time) in zip(
        sorted(eaf, key=lambda m: (m.level, m.time)), wanted, strict=True
    ):
        assert mark.time is not None
        assert abs(mark.time - time) <= Fraction(1, 2000)
    studio = read_marks(tmp_path / "a.label-studio.json").marks
    assert sorted((m.level, m.frame) for m in studio) == [(n, frame) for n, frame, _ in wanted]


EVENTS_AT_NTSC = [each._replace(time=each.frame / NTSC) for each in EVENTS]
