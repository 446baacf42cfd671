"""`vpr segment` from the user's side."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_cli import vpr
from tests.segmenting.made import scenes, write_video
from vpr import VPR, ModelConfig, Timeline
from vpr.executors import claims, processes
from vpr.executors.claims import claimed
from vpr.pretrained import save_pretrained
from vpr.segmenting import batch
from vpr.segmenting.batch import Outcome
from vpr.segmenting.exports import FORMATS

Capture = pytest.CaptureFixture[str]
ENDINGS = ("csv", "json", "html", "level2.vtt", "level3.vtt", "level2.ffmeta", "level3.ffmeta")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    config = ModelConfig(3, state_size=3, width=12, frame=(3, 16, 16), network="folded", channels=4)
    made = VPR(config)
    made.typical_kl.fill_(1e-3)
    save_pretrained(made, folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.mp4", "b/x.mp4", "b/Ümläut 映画.mp4"):
        Path(name).parent.mkdir(exist_ok=True)
        write_video(Path(name), scenes(20, seed=len(name)))
    return tmp_path


def pieces(out: str) -> dict[str, dict[str, Any]]:
    return {piece["source"]: piece for piece in json.loads(out)["pieces"]}


def test_many_files_and_what_is_finished(here: Path, model: Path, capsys: Capture) -> None:
    words = ["segment", "a/x.mp4", "b", "--model", model, "--out", "out", "--json"]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    first = pieces(out)
    assert {source: piece["status"] for source, piece in first.items()} == dict.fromkeys(
        ("a/x.mp4", "b/x.mp4", "b/Ümläut 映画.mp4"), "done"
    )
    for stem in ("a/x", "b/x", "Ümläut 映画"):
        assert all((here / "out" / f"{stem}.{ending}").exists() for ending in ENDINGS)
    read = Timeline.from_json("out/b/x.json")
    assert (read.source, read.model, read.frames) == ("b/x.mp4", str(model), 20)
    assert first["b/x.mp4"]["events"] == {str(n): len(read.events(n)) for n in (2, 3)}

    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert [piece["status"] for piece in pieces(out).values()] == ["skipped"] * 3
    assert pieces(out)["b/x.mp4"]["events"] == first["b/x.mp4"]["events"]

    os.utime("a/x.mp4", (1, 1))
    (here / "out/Ümläut 映画.csv").unlink()
    _, out, _ = vpr(capsys, *words)
    assert {name: piece["status"] for name, piece in pieces(out).items()} == {
        "a/x.mp4": "done",
        "b/x.mp4": "skipped",
        "b/Ümläut 映画.mp4": "done",
    }
    _, out, _ = vpr(capsys, *words, "--threshold", 3, "--levels", 3)
    assert {piece["status"] for piece in pieces(out).values()} == {"done"}
    assert not (here / "out/a/x.level2.vtt").exists()
    _, out, _ = vpr(capsys, *words, "--threshold", 3, "--levels", 3, "--force")
    assert {piece["status"] for piece in pieces(out).values()} == {"done"}


def test_another_run_does_not_overwrite(here: Path, model: Path, capsys: Capture) -> None:
    for source in ("a/x.mp4", "b/x.mp4", "b/x.mp4"):
        assert vpr(capsys, "segment", source, "--model", model, "--out", "out")[0] == 0
    assert Timeline.from_json("out/x.json").source == "a/x.mp4"
    assert Timeline.from_json("out/b/x.json").source == "b/x.mp4"


def write_sound(path: Path) -> None:
    import av

    with av.open(str(path), "w") as file:
        stream = file.add_stream("pcm_s16le", rate=8000, layout="mono")
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), layout="mono")
        silence.sample_rate = 8000
        file.mux(stream.encode(silence))
        file.mux(stream.encode())


def test_bad_input_is_told_in_a_line_each_and_the_rest_is_done(
    here: Path, model: Path, capsys: Capture
) -> None:
    write_sound(Path("sound.wav"))
    write_video(Path("whole.mp4"), scenes(60), fast_start=True)
    data = Path("whole.mp4").read_bytes()
    Path("cut.mp4").write_bytes(data[: len(data) * 2 // 3])
    Path("head.mp4").write_bytes(data[:40])
    Path("text.mp4").write_text("this is no video")
    Path("empty.mp4").touch()
    Path("video.txt").write_bytes(Path("a/x.mp4").read_bytes())  # a wrong extension is not an error
    np.save("none.npy", np.zeros((0, 16, 16, 3), np.uint8))
    np.save("one.npy", scenes(1))
    np.save("nan.npy", np.full((3, 16, 16), np.nan))
    np.save("huge.npy", np.broadcast_to(np.zeros((), np.uint8), (1, 1, 9000 * 9000)))
    Path("nothing").mkdir()
    bad = ["sound.wav", "head.mp4", "text.mp4", "empty.mp4", "none.npy", "nan.npy", "huge.npy"]
    bad += ["nothing", "missing.mp4"]
    good = ["video.txt", "one.npy", "b/Ümläut 映画.mp4"]
    words = ["segment", *bad, "cut.mp4", *good, "--model", model, "--out", "out"]
    code, out, err = vpr(capsys, *words, "--json")
    assert code == 1
    told = pieces(out)
    assert {name: told[name]["status"] for name in bad} == dict.fromkeys(bad, "failed")
    assert {name: told[name]["status"] for name in good} == dict.fromkeys(good, "done")
    assert told["cut.mp4"]["status"] == "damaged"
    assert 0 < told["cut.mp4"]["frames"] < 60
    assert Timeline.from_json("out/cut.json").problem == told["cut.mp4"]["trouble"]
    assert told["one.npy"]["events"] == {"2": 0, "3": 0}
    lines = [line for line in err.splitlines() if line.startswith("vpr: ")]
    assert len(lines) == len(bad) + 2
    for name in [*bad, "cut.mp4"]:
        assert sum(name in line for line in lines[:-1]) == 1, name
    assert f"{len(bad) + 1} of {len(told)} failed or are damaged" in lines[-1]
    assert "Traceback" not in err

    code, out, _ = vpr(capsys, "segment", "cut.mp4", "--model", model, "--out", "out", "--json")
    assert code == 1  # finished, and still damaged
    assert pieces(out)["cut.mp4"]["status"] == "skipped"


def test_one_bad_file_is_one_line(here: Path, model: Path, capsys: Capture) -> None:
    code, out, err = vpr(capsys, "segment", "nope.mp4", "--model", model)
    assert (code, out) == (1, "")
    assert err == "vpr: nope.mp4 does not exist\n"


def test_the_table(here: Path, model: Path, capsys: Capture) -> None:
    code, out, _ = vpr(capsys, "segment", "a/x.mp4", "--model", model, "--out", "out")
    assert code == 0
    assert "level 3" in out
    assert f"Open {Path('out/x.html')}." in out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--levels", "1"], "levels 2 to 3 (level 1 has no events), got 1"),
        (["--min-gap", "-1"], "--min-gap must be 0"),
        (["--threshold", "0"], "--threshold must be above 0"),
        (["--jobs", "0"], "jobs must be 1 or more"),
        (["--threshold", "nan"], "finite number"),
    ],
)
def test_flags_that_make_no_sense(
    model: Path, capsys: Capture, flags: list[str], words: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, _, err = vpr(capsys, "segment", "x.mp4", "--model", model, "--out", out, *flags)
    assert code == 2
    assert words in err
    assert not out.exists()


def test_a_model_of_vectors(tmp_path: Path, capsys: Capture) -> None:
    save_pretrained(VPR(ModelConfig(2, width=12, frame=(7,))), tmp_path / "m")
    np.save(tmp_path / "x.npy", np.zeros((5, 16, 16, 3), np.uint8))
    words = ["segment", tmp_path / "x.npy", "--model", tmp_path / "m", "--out", tmp_path / "out"]
    code, _, err = vpr(capsys, *words)
    assert code == 1
    assert "needs vectors (7,), not pictures" in err


def test_sweep(here: Path, model: Path, capsys: Capture) -> None:
    words = ["segment", "a/x.mp4", "--model", model, "--out", "out", "--sweep", "--json"]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert sorted(path.name for path in Path("out").glob("x*")) == ["x.sweep.csv", "x.sweep.png"]
    assert len(pieces(out)["a/x.mp4"]["events"]["gammas"]) == 13
    _, out, _ = vpr(capsys, *words)
    assert pieces(out)["a/x.mp4"]["status"] == "skipped"
    code, out, _ = vpr(capsys, *words[:-2])
    assert code == 0
    assert "x.html" in out


def test_export_for_other_programs(here: Path, model: Path, capsys: Capture) -> None:
    words = ["segment", "a/x.mp4", "--model", model, "--out", "out", "--json"]
    code, out, _ = vpr(capsys, *words, "--export", "edl,label-studio,eaf,otio")
    assert code == 0
    kinds = {".eaf", ".label-studio.json", ".otio", ".level2.edl"}
    assert kinds <= {f".{name.partition('.')[2]}" for name in pieces(out)["a/x.mp4"]["files"]}
    _, out, _ = vpr(capsys, *words, "--export", "eaf,otio,label-studio,edl")
    assert pieces(out)["a/x.mp4"]["status"] == "skipped"
    _, out, _ = vpr(capsys, *words)
    assert pieces(out)["a/x.mp4"]["status"] == "done"
    assert not Path("out/x.eaf").exists()
    code, _, err = vpr(capsys, *words, "--export", "pdf")
    assert (code, err.count("\n")) == (2, 1)
    assert "no format 'pdf'" in err
    _, out, _ = vpr(capsys, "segment", "--help")
    assert ",".join(FORMATS) in "".join(out.split())


@pytest.mark.parametrize("more", [(), ("--export", "eaf")], ids=["deleted", "overwritten"])
def test_a_file_that_was_edited_is_kept(
    here: Path, model: Path, capsys: Capture, more: tuple[str, ...]
) -> None:
    words = ["segment", "a/x.mp4", "b", "--model", model, "--out", "out"]
    assert vpr(capsys, *words, "--export", "eaf")[0] == 0
    edited, table = Path("out/a/x.eaf"), Path("out/a/x.csv")
    edited.write_text("by hand")
    before = table.read_bytes()
    changed = [*words, *more, "--threshold", 7, "--json"]
    code, out, err = vpr(capsys, *changed)
    assert code == 1
    assert pieces(out)["a/x.mp4"]["status"] == "failed"
    assert pieces(out)["b/x.mp4"]["status"] == "done"
    first = f"vpr: {edited} was changed since vpr wrote it: move it to another folder"
    assert err.startswith(first)
    assert (edited.read_text(), table.read_bytes()) == ("by hand", before)
    edited.rename("mine.eaf")
    code, out, _ = vpr(capsys, *changed)
    assert (code, pieces(out)["a/x.mp4"]["status"]) == (0, "done")
    assert edited.exists() == bool(more)


def test_a_file_that_was_touched_or_copied_is_not_edited(
    here: Path, model: Path, capsys: Capture
) -> None:
    words = ["segment", "a/x.mp4", "--model", model, "--out", "out", "--export", "eaf"]
    assert vpr(capsys, *words)[0] == 0
    os.utime("out/x.eaf", (1, 1))
    assert vpr(capsys, *words, "--threshold", 7)[0] == 0


def test_files_of_a_killed_process_are_overwritten(
    here: Path, model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["segment", "a/x.mp4", "--model", model, "--out", "out"]
    assert vpr(capsys, *words)[0] == 0

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:  # after some files were written
        patch.setattr(batch, "write_exports", kill)
        assert vpr(capsys, *words, "--threshold", 7)[0] == 130
    assert vpr(capsys, *words, "--threshold", 8)[0] == 0


class Dying(processes.Worker):
    """A process that dies of every file called bad."""

    def assign(self, number: int, target: Any) -> processes.Worker:
        if "bad" in target.source:
            self.process.kill()
            self.process.join()
        return super().assign(number, target)


def test_processes_side_by_side(
    here: Path, model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "Worker", Dying)
    Path("a/bad.mp4").write_bytes(b"deadly")
    Path("a/x.mp4").unlink()
    words = ["segment", "a/bad.mp4", "b", "--model", model, "--out", "out", "--jobs", 2, "--json"]
    code, out, _ = vpr(capsys, *words)
    assert code == 1
    told = pieces(out)
    assert told["b/x.mp4"]["status"] == told["b/Ümläut 映画.mp4"]["status"] == "done"
    assert told["a/bad.mp4"]["status"] == "failed"
    assert "ended with code -9" in told["a/bad.mp4"]["trouble"]
    assert Timeline.from_json("out/x.json").frames == 20


def test_shards(here: Path, model: Path, capsys: Capture) -> None:
    words = ["segment", "a/x.mp4", "b", "--model", model, "--out", "out", "--json"]
    parts = []
    for number in (1, 2):
        code, out, _ = vpr(capsys, *words, "--shard", f"{number}/2")
        assert code == 0
        parts.append(pieces(out))
    assert [len(part) for part in parts] == [2, 1]
    assert {each["status"] for part in parts for each in part.values()} == {"done"}
    _, out, _ = vpr(capsys, *words)
    assert {each["status"] for each in pieces(out).values()} == {"skipped"}
    code, _, err = vpr(capsys, *words, "--shard", "3/2")
    assert (code, err.count("\n")) == (2, 1)
    assert "of the form 3/16" in err


def test_what_another_process_is_segmenting_is_left_to_it(
    here: Path, model: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "FINAL_TIMEOUT", 0.5)
    words = ["segment", "b", "--model", model, "--out", "out"]
    with claimed(Path("out/.finished/x.events.claim"), 0.0) as held:
        assert held
        code, out, err = vpr(capsys, *words, "--json")
    assert code == 0
    assert pieces(out)["b/x.mp4"]["status"] == "elsewhere"
    assert pieces(out)["b/Ümläut 映画.mp4"]["status"] == "done"
    assert "1 of 2 are being segmented by other processes" in err
    _, out, _ = vpr(capsys, *words, "--json")
    assert [each["status"] for each in pieces(out).values()] == ["skipped", "done"]


def test_ok() -> None:
    assert Outcome("a", "done").ok
    assert not Outcome("a", "failed", problem="x").ok
    assert not Outcome("a", "skipped", problem="x").ok
