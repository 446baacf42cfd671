"""`vpr evaluate-boundaries` from the user's side: scores of tables, and clear error messages."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_cli import vpr
from vpr import VPRError
from vpr.evaluation.boundary_files import Mark, read_marks
from vpr.segmenting.timeline import Event, Timeline

Capture = pytest.CaptureFixture[str]


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def scores(capsys: Capture, *words: object, code: int = 0) -> dict[str, Any]:
    got, out, err = vpr(capsys, "evaluate-boundaries", *words, "--json")
    assert got == code, err
    result: dict[str, Any] = json.loads(out)
    return result


def test_scores_at_several_tolerances(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "time", "0.8", "2", "5", "9")
    truth = write(tmp_path / "t.csv", "time", "0.6", "2", "6")
    result = scores(capsys, predicted, truth, "--tolerance", "0s,0.2s,999ms,1s")
    assert [each["matched"] for each in result["scores"]] == [1, 2, 2, 3]
    assert [each["tolerance"] for each in result["scores"]] == ["0s", "0.2s", "999ms", "1s"]
    last = result["scores"][-1]
    assert (last["precision"], last["recall"], last["level"]) == (0.75, 1.0, None)
    assert last["f1"] == pytest.approx(6 / 7)
    assert last["mean_distance"] == pytest.approx(0.4)
    code, out, _ = vpr(capsys, "evaluate-boundaries", predicted, truth)
    assert code == 0
    assert "0.857" in out
    assert "0.4 s" in out


def test_frames_can_be_compared(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "frame,time", "9,0.3", "13,0.4")
    truth = write(tmp_path / "t.csv", "frame", "10", "14")
    assert scores(capsys, predicted, truth, "--tolerance", "5f")["scores"][0]["f1"] == 1.0
    code, _, err = vpr(capsys, "evaluate-boundaries", predicted, truth)
    assert code == 2
    assert "t.csv has boundaries without time: give the tolerance in frames, like 5f" in err


def test_each_level_or_one(tmp_path: Path, capsys: Capture) -> None:
    header = "frame,time,level,kind,score,fit,surprise,kl_static,kl_change,threshold"
    rows = [f"{t * 25},{t},{level},both,1,1,1,3,1,2" for t, level in [(1, 2), (3, 2), (3, 3)]]
    predicted = write(tmp_path / "p.csv", header, *rows)
    truth = write(tmp_path / "t.csv", "time", "3", "4")
    result = scores(capsys, predicted, truth, "--tolerance", "0.2s")
    assert [(s["level"], s["predicted"], s["true"]) for s in result["scores"]] == [
        (2, 2, 2),
        (3, 1, 2),
    ]
    only = scores(capsys, predicted, truth, "--tolerance", "0.2s", "--level", 3)
    assert only["scores"] == result["scores"][1:]
    levelled = write(tmp_path / "l.csv", "time,level", "3,3", "1,2")
    result = scores(capsys, predicted, levelled, "--tolerance", "0s")
    assert [(s["matched"], s["true"]) for s in result["scores"]] == [(1, 1), (1, 1)]
    code, _, err = vpr(capsys, "evaluate-boundaries", predicted, truth, "--level", 7)
    assert (code, err) == (2, "vpr: there are no boundaries of level 7: choose one of 2, 3\n")


def test_folders_are_summed_and_partners_missed(tmp_path: Path, capsys: Capture) -> None:
    p, t = tmp_path / "predicted", tmp_path / "the truth"
    write(p / "a.csv", "time", "1", "2")
    write(p / "a.json", "not read, since there is a table")
    write(p / "sub" / "ü.json", json.dumps({"events": [{"time": 0.1, "level": None}]}))
    write(p / "alone.csv", "time", "1")
    write(p / "bad.csv", "time", "early")
    write(p / "frames.csv", "frame", "3")
    write(t / "a.csv", "time", "1")
    write(t / "sub" / "ü.csv", "time", "0.1", "7")
    write(t / "lost.csv", "time", "1")
    write(t / "bad.csv", "time", "1")
    write(t / "frames.csv", "frame", "3")
    words = ["evaluate-boundaries", p, t, "--tolerance", "0s"]
    code, out, err = vpr(capsys, *words, "--json")
    result = json.loads(out)
    assert code == 1
    assert result["videos"] == 2
    assert {k: result["scores"][0][k] for k in ("matched", "predicted", "true")} == {
        "matched": 2,
        "predicted": 3,
        "true": 3,
    }
    assert [result["by_file"][name][0]["recall"] for name in ("a", "sub/ü")] == [1.0, 0.5]
    assert f"Missing: alone: not in {t}" in err
    assert f"Missing: lost: not in {p}" in err
    assert "bad.csv, line 2: time 'early' is not a number" in err
    assert "frames.csv has boundaries without time" in err
    assert vpr(capsys, *words)[0] == 1


def test_one_table_of_many_videos(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "file,time", "a.mp4,1", "b.mp4,1", "c.mp4,5")
    truth = write(tmp_path / "t.csv", "file,time", "a.mp4,1", "b.mp4,2", "d.mp4,5")
    result = scores(capsys, predicted, truth, "--tolerance", "0s")
    assert result["videos"] == 4
    assert (result["scores"][0]["matched"], result["scores"][0]["true"]) == (1, 3)
    code, _, err = vpr(
        capsys, "evaluate-boundaries", predicted, write(tmp_path / "x.csv", "time", "1")
    )
    assert code == 2
    assert "the column 'file' must be in all of" in err


def test_folders_without_common_names_are_one_line(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "p" / "a.csv", "time", "1")
    write(tmp_path / "t" / "b.csv", "time", "1")
    code, out, err = vpr(capsys, "evaluate-boundaries", tmp_path / "p", tmp_path / "t")
    assert (code, out) == (2, "")
    assert "compared by name without suffix, such as a and b" in err
    assert err.count("\n") == 1


def test_other_files_of_segment_are_not_boundaries(tmp_path: Path, capsys: Capture) -> None:
    """A sweep has no boundaries, and exports have the same ones again."""
    write(tmp_path / "p" / "a.csv", "time", "1")
    write(tmp_path / "p" / "a.sweep.csv", "gamma,level,events,events_per_minute", "1,2,3,4")
    write(tmp_path / "p" / "a.label-studio.json", "[]")
    write(tmp_path / "p" / "a.eaf", "not read, since there is a table")
    write(tmp_path / "t" / "a.txt", "1")
    result = scores(capsys, tmp_path / "p", tmp_path / "t")
    assert (result["videos"], result["missing"], result["scores"][0]["f1"]) == (1, [], 1.0)


def test_plain_numbers_are_seconds(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "time", "1.2")
    truth = write(tmp_path / "t.csv", "time", "1")
    result = scores(capsys, predicted, truth, "--tolerance", "0.1,0.2,0.2s")
    assert [(s["tolerance"], s["matched"]) for s in result["scores"]] == [("0.1s", 0), ("0.2s", 1)]


def test_annotators_are_compared_with_each_other(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "time", "1", "2")
    anna = write(tmp_path / "anna.csv", "time", "1", "3")
    ben = write(tmp_path / "ben.txt", "1", "3")
    result = scores(capsys, predicted, anna, ben, "--tolerance", "0")
    assert result["agreement"] == [
        {
            "annotator": str(name),
            "level": None,
            "tolerance": "0s",
            "predicted": 0.5,
            "others": 1.0,
        }
        for name in (anna, ben)
    ]
    (score,) = result["scores"]  # summed over both
    assert (score["matched"], score["predicted"], score["true"]) == (2, 4, 4)
    _, out, _ = vpr(capsys, "evaluate-boundaries", predicted, anna, ben, "--tolerance", "0")
    assert "other annotators" in out
    assert scores(capsys, predicted, anna)["agreement"] == []


def test_annotators_in_one_table(tmp_path: Path, capsys: Capture) -> None:
    predicted = write(tmp_path / "p.csv", "file,time", "a,1", "b,1")
    rows = ["a,anna,1", "a,ben,1", "a,ben,5", "b,cleo,7"]
    truth = write(tmp_path / "t.csv", "file,annotator,time", *rows)
    result = scores(capsys, predicted, truth, "--tolerance", "0.2")
    agreed = {row["annotator"]: (row["predicted"], row["others"]) for row in result["agreement"]}
    assert agreed["anna"] == (1.0, pytest.approx(2 / 3))
    assert agreed["ben"] == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert agreed["cleo"] == (0.0, None)  # this video has no other annotator
    only = scores(capsys, predicted, truth, "--tolerance", "0.2", "--annotator", "anna")
    assert (only["agreement"], only["scores"][0]["true"]) == ([], 1)


def test_folders_of_several_annotators(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "p" / "a.csv", "time", "1")
    write(tmp_path / "p" / "b.csv", "time", "1")
    write(tmp_path / "anna" / "a.csv", "time", "1")
    write(tmp_path / "anna" / "b.csv", "time", "2")
    write(tmp_path / "ben" / "a.csv", "time", "1")
    folders = [tmp_path / name for name in ("p", "anna", "ben")]
    result = scores(capsys, *folders, "--tolerance", "0", code=1)
    assert result["videos"] == 2
    assert result["missing"] == [f"b: not in {tmp_path / 'ben'}"]
    assert [row["predicted"] for row in result["agreement"]] == [0.5, 1.0]
    assert [row["others"] for row in result["agreement"]] == [1.0, 1.0]


def test_nothing_found_scores_zero(tmp_path: Path, capsys: Capture) -> None:
    nothing, truth = write(tmp_path / "p.csv", "time"), write(tmp_path / "t.csv", "time", "1")
    for pair in ((nothing, truth), (truth, nothing), (nothing, nothing)):
        score = scores(capsys, *pair, "--tolerance", "0.2s")["scores"][0]
        assert [score[key] for key in ("precision", "recall", "f1")] == [0, 0, 0]


def test_what_a_timeline_writes_is_read_exactly(tmp_path: Path) -> None:
    third = Fraction(1, 3)
    event = Event(10, third, 2, "both", 3.0, 1.0, 2.0)
    timeline = Timeline("a.mp4", "a model", 2, 20, np.arange(20) / 30, [event])
    timeline.to_csv(tmp_path / "a.csv")
    timeline.to_json(tmp_path / "a.json")
    for name in ("a.csv", "a.json"):
        assert read_marks(tmp_path / name).marks == [Mark(third, Fraction(10), 2, None)]


def test_lines_of_a_live_stream_and_tables_of_excel(tmp_path: Path) -> None:
    lines = ['{"time": 0.2, "level": 2}', '{"dropped": 3, "time": 9}', '{"time": 1, "level": 3}']
    live = read_marks(write(tmp_path / "live.jsonl", *lines))
    assert [(float(m.time or 0), m.level) for m in live.marks] == [(0.2, 2), (1.0, 3)]
    table = tmp_path / "excel.csv"
    table.write_bytes("\ufeffTime, Level\r\n 1001/30000, 2\r\n\r\n".encode())
    (mark,) = read_marks(table).marks
    assert (mark.time, mark.level) == (Fraction(1001, 30000), 2)


def times(path: Path) -> list[float]:
    return sorted(float(mark.time) for mark in read_marks(path).marks if mark.time is not None)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (["0,2", "2,5", "5,9"], [2, 5]),  # they cover the footage
        (["5,9", "0,2", "2.04,5"], [2.04, 5]),
        (["1,2", "4,5"], [1, 2, 4, 5]),
        (["0,2", "4,5"], [2, 4, 5]),
        (["1,2"], [1, 2]),
        (["0,2"], []),
        (["3,3", "4,4"], [3, 4]),
        (["1,5", "2,3"], [1, 2, 3, 5]),
        (["0:30,1:02.5", "1:02.5,1:00:00"], [62.5]),
    ],
)
def test_intervals_have_boundaries(tmp_path: Path, rows: list[str], found: list[float]) -> None:
    assert times(write(tmp_path / "a.csv", "start,end", *rows)) == found
    assert times(write(tmp_path / "a.txt", *rows)) == found


def test_intervals_of_frames_and_of_several_videos(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "start_frame,end_frame", "0,99", "100,199", "200,299")
    assert [mark.frame for mark in read_marks(table).marks] == [100, 200]
    two = write(tmp_path / "b.csv", "file,start,end", "a,0,1", "b,0,3", "a,1,2", "b,3,4")
    assert sorted((m.file, float(m.time or 0)) for m in read_marks(two).marks) == [
        ("a", 1.0),
        ("b", 3.0),
    ]


def test_text_has_times_labels_and_comments(tmp_path: Path) -> None:
    lines = ["# seconds", "1.5", "", "2.5\tthe door opens", "1:00", "70\t70\ta click", "\\\t20\t40"]
    assert times(write(tmp_path / "a.txt", *lines)) == [1.5, 2.5, 60, 70]
    with pytest.raises(VPRError, match="line 1: start 'early' is not a number"):
        read_marks(write(tmp_path / "b.txt", "early 3"))


EAF = """<?xml version="1.0"?>
<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="{units}"/><TIME_ORDER>
<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="1500"/>
<TIME_SLOT TIME_SLOT_ID="c" TIME_VALUE="4000"/><TIME_SLOT TIME_SLOT_ID="d"/></TIME_ORDER>
<TIER TIER_ID="anna"><ANNOTATION>
<ALIGNABLE_ANNOTATION TIME_SLOT_REF1="a" TIME_SLOT_REF2="b"/></ANNOTATION><ANNOTATION>
<ALIGNABLE_ANNOTATION TIME_SLOT_REF1="b" TIME_SLOT_REF2="{last}"/></ANNOTATION></TIER>
<TIER TIER_ID="level 3"><ANNOTATION>
<ALIGNABLE_ANNOTATION TIME_SLOT_REF1="b" TIME_SLOT_REF2="c"/></ANNOTATION></TIER>
</ANNOTATION_DOCUMENT>"""


def test_tiers_of_elan_are_annotators_or_levels(tmp_path: Path) -> None:
    file = write(tmp_path / "a.eaf", EAF.format(units="milliseconds", last="c"))
    assert read_marks(file).marks == [
        Mark(Fraction(3, 2), None, None, None, "anna"),
        Mark(Fraction(3, 2), None, 3, None),
        Mark(Fraction(4), None, 3, None),
    ]
    for text, says in (
        (EAF.format(units="milliseconds", last="d"), "tier 'anna' has annotations without times"),
        (EAF.format(units="PAL-frames", last="c"), "not an ELAN file with times in milliseconds"),
        ("time\n1\n", "is not XML"),
        ("<a/>", "not an ELAN file"),
    ):
        with pytest.raises(VPRError, match=says):
            read_marks(write(file, text))


def test_labels_of_label_studio(tmp_path: Path) -> None:
    def region(start: int, end: int, label: str) -> dict[str, Any]:
        value = {"ranges": [{"start": start, "end": end}], "timelinelabels": [label]}
        return {"type": "timelinelabels", "value": value}

    whole = [region(1, 30, "run"), region(30, 61, "jump"), {"type": "choices"}]
    task = {
        "data": {"video": "/data/a%20b.mp4"},
        "annotations": [
            {"completed_by": 4, "result": whole},
            {"completed_by": {"id": 7, "email": "ben@x"}, "result": [region(11, 20, "run")]},
        ],
        "predictions": [{"result": [region(5, 6, "Level 2")]}],
    }
    file = write(tmp_path / "a.json", json.dumps([task]))
    assert [(m.frame, m.annotator, m.file) for m in read_marks(file).marks] == [
        (29, "annotator 4", None),  # counted from 0
        (10, "annotator ben@x", None),
        (20, "annotator ben@x", None),
    ]
    two = write(tmp_path / "b.json", json.dumps([task, task | {"annotations": []}]))
    assert {(m.file, m.level) for m in read_marks(two).marks} == {
        ("a b.mp4", None),
        ("a b.mp4", 2),
    }


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "is empty: it needs a header with a column 'time' or 'frame'"),
        ("start,stop\n1,2\n", "'start' and 'end' in its header, it has: start, stop"),
        ("start,end\n1,\n", "line 2: neither a time nor a frame, nor start and end"),
        ("start,end\n2,1\n", "line 2: the interval ends before it starts"),
        ("time\n1\nsoon\n", "line 3: time 'soon' is not a number"),
        ("time\nnan\n", "line 2: time 'nan' is not a number"),
        ("time\n1/0\n", "line 2: time '1/0' is not a number"),
        ("time,level\n,2\n", "line 2: neither a time nor a frame"),
        ("time,level\n1,2.5\n", "line 2: level 2.5 is not a whole number"),
        ("\0\udcff", "is not text"),
    ],
)
def test_bad_tables_are_one_line(tmp_path: Path, capsys: Capture, table: str, words: str) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(table.encode(errors="surrogateescape"))
    good = write(tmp_path / "good.csv", "time", "1")
    code, out, err = vpr(capsys, "evaluate-boundaries", bad, good)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_the_table_fits_into_a_terminal(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [f"{n},{level}" for n in range(1000) for level in (2, 3)]
    table = write(tmp_path / "a.csv", "time,level", *rows)
    code, out, _ = vpr(capsys, "evaluate-boundaries", table, table)
    assert code == 0
    assert "…" not in out


def test_bad_requests_are_one_line(tmp_path: Path, capsys: Capture) -> None:
    table = write(tmp_path / "a.csv", "time", "1")
    broken = write(tmp_path / "b.json", '{"events": 3}')
    (tmp_path / "none").mkdir()
    for words, said in (
        ([table, table, "--tolerance", "-1s"], "expected one argument"),
        ([table, table, "--tolerance=-1s"], "must be 0 or more, got -1s"),
        ([table, table, "--tolerance", "0.2m"], "a time like 0.2s or 200ms, or frames"),
        ([table, tmp_path / "none.csv"], "none.csv does not exist"),
        ([table, tmp_path], "give files or folders, not files and folders together"),
        ([tmp_path, tmp_path / "none"], "no .csv, .json, .jsonl, .eaf, .txt files in"),
        ([table, table, "--annotator", "anna"], "has no boundaries of anna, but of –"),
        ([table, broken], "b.json has no list of boundaries"),
    ):
        code, out, err = vpr(capsys, "evaluate-boundaries", *words)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1
