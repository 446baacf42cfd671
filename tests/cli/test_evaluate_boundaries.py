"""`vpr evaluate-boundaries` as a user meets it: tables in, scores and clear lines out."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_cli import vpr
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
    assert "the column 'file' must be in both" in err


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


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "is empty: it needs a header with a column 'time' or 'frame'"),
        ("start,end\n1,2\n", "needs a column 'time' or 'frame' in its header, it has: start, end"),
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


def test_bad_requests_are_one_line(tmp_path: Path, capsys: Capture) -> None:
    table = write(tmp_path / "a.csv", "time", "1")
    broken = write(tmp_path / "b.json", '{"events": 3}')
    (tmp_path / "none").mkdir()
    for words, said in (
        ([table, table, "--tolerance", "-1s"], "expected one argument"),
        ([table, table, "--tolerance=-1s"], "must be 0 or more, got -1s"),
        ([table, table, "--tolerance", "0.2"], "a time like 0.2s or 200ms, or frames like 5f"),
        ([table, tmp_path / "none.csv"], "no such file"),
        ([table, tmp_path], "two files or two folders"),
        ([tmp_path, tmp_path / "none"], "no .csv, .json, .jsonl files in"),
        ([table, broken], "b.json has no list of boundaries"),
    ):
        code, out, err = vpr(capsys, "evaluate-boundaries", *words)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1
