"""`vpr segment` with malicious file names and records."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_cli import vpr
from tests.segmenting.made import scenes, write_video
from vpr import VPR, ModelConfig, Timeline
from vpr.pretrained import save_pretrained

Capture = pytest.CaptureFixture[str]
NAMES = ("plain.mp4", "[/green].mp4", "[bold]y.mp4", "a\x1b]0;owned\x07\x9b31m.mp4", "l\n2.mp4")
RAW = os.fsdecode(b"not-utf8-\xff\xfe.mp4")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    config = ModelConfig(2, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4)
    made = VPR(config)
    made.typical_kl.fill_(1e-3)
    save_pretrained(made, folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("jobs", [1, 2])
def test_names_are_printed_safely_and_stop_nothing(
    here: Path, model: Path, capsys: Capture, jobs: int
) -> None:
    for number, name in enumerate((*NAMES, RAW)):
        write_video(Path("in") / "video.mp4", scenes(3, seed=number))
        (Path("in") / name).parent.mkdir(exist_ok=True)
        (Path("in") / "video.mp4").rename(Path("in") / name)
    words = ["segment", "in", "--model", model, "--out", "out", "--jobs", jobs]
    code, out, err = vpr(capsys, *words)
    assert code == 0, err
    assert out.count("done") == len(NAMES) + 1
    assert not {"\x1b", "\x9b", "\x07"} & set(out + err)
    folded = "".join(out.replace("│", "").split())  # the table breaks long names
    for shown in ("[/green].mp4", "[bold]y.mp4", "\\u001b]0;owned", "not-utf8-\\udcff\\udcfe"):
        assert shown in folded or shown in out
    timeline = Timeline.from_json(Path("out") / f"{RAW.removesuffix('.mp4')}.json")
    assert timeline.source == f"in/{RAW}"

    code, out, _ = vpr(capsys, *words, "--json")
    assert [piece["status"] for piece in json.loads(out)["pieces"]] == ["skipped"] * 6


def test_an_array_of_negative_shape_does_not_stop_the_others(
    here: Path, model: Path, capsys: Capture
) -> None:
    np.save("in/good.npy", np.zeros((3, 16, 16, 3), dtype=np.uint8))
    whole = Path("in/good.npy").read_bytes()
    for number, shape in enumerate((b"(3, -6, -6, 3)", b"(-3, 16, 16,3)")):
        Path(f"in/bad{number}.npy").write_bytes(whole.replace(b"(3, 16, 16, 3)", shape))
    words = ["segment", "in", "--model", model, "--out", "out", "--json"]
    code, out, err = vpr(capsys, *words)
    statuses = {Path(p["source"]).name: p["status"] for p in json.loads(out)["pieces"]}
    assert code == 1
    assert statuses == {"good.npy": "done", "bad0.npy": "failed", "bad1.npy": "failed"}
    assert "negative size" in err


def record(model: Path, capsys: Capture) -> Path:
    np.save("in/a.npy", np.zeros((3, 16, 16, 3), dtype=np.uint8))
    vpr(capsys, "segment", "in/a.npy", "--model", model, "--out", "out")
    return Path("out/.finished/a.events")


def test_a_record_cannot_delete_files_outside_the_folder(
    here: Path, model: Path, capsys: Capture
) -> None:
    path = record(model, capsys)
    Path("precious").mkdir()
    Path("out/link").symlink_to(here / "precious")
    outside = [here / "a.txt", here / "precious/a.txt", here / "out/other.csv"]
    for each in outside:
        each.write_text("precious")
    content = json.loads(path.read_text())
    content["files"] += ["../a.txt", str(here / "a.txt"), "link/a.txt", "other.csv", "a.old", 7]
    path.write_text(json.dumps(content))
    Path("out/a.old").write_text("an older file of this piece")
    code, _, _ = vpr(capsys, "segment", "in/a.npy", "--model", model, "--out", "out", "--force")
    assert code == 0
    assert all(each.exists() for each in outside)
    assert not Path("out/a.old").exists()


def test_a_record_that_names_a_folder_deletes_nothing(
    here: Path, model: Path, capsys: Capture
) -> None:
    path = record(model, capsys)
    Path("out/a.mine").mkdir()
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"files": [*content["files"], "a.mine"]}))
    code, _, err = vpr(capsys, "segment", "in/a.npy", "--model", model, "--out", "out", "--force")
    assert code == 0, err
    assert Path("out/a.mine").is_dir()


@pytest.mark.parametrize("change", [{"files": None}, {"files": "ab"}, {"summary": {"wings": 2}}])
def test_a_damaged_record_is_done_again(
    here: Path, model: Path, capsys: Capture, change: dict[str, object]
) -> None:
    path = record(model, capsys)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    code, out, _ = vpr(capsys, "segment", "in/a.npy", "--model", model, "--out", "out", "--json")
    assert code == 0
    assert json.loads(out)["pieces"][0]["status"] == "done"
