"""The tutorial: its commands are understood, and the whole way from a clip to its page works."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

import vpr
from vpr.cli import main
from vpr.cli.main import _parse
from vpr.video import open_footage

FOLDER = Path(__file__).parents[2] / "docs" / "getting-started"
TEXT = (FOLDER / "footage.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
LINES = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
COMMANDS = [shlex.split(line)[1:] for line in LINES if line.startswith("vpr ")]
FLAGS = re.findall(r"`(--(?:data|training)\.[^`]+)`", TEXT)

QUICK = ["--training.steps", "20", "--training.batch-size", "2"]  # as the tutorial has it
SHORTER = "SCENES, FRAMES = 8, 50"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_are_understood(words: list[str]) -> None:
    _parse(words)


@pytest.mark.parametrize("flags", FLAGS)
def test_flags_are_understood(flags: str) -> None:
    _parse(["train", "cpu/video", *shlex.split(flags)])


def test_every_step_is_there() -> None:
    assert [words[0] for words in COMMANDS] == [
        "data",
        "train",
        "segment",
        "segment",
        "segment",
        "evaluate-boundaries",
        "watch",
        "segment",
    ]
    assert len(FLAGS) == 5
    assert set(QUICK) <= set(" ".join(FLAGS).split())


def test_links_and_pictures_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        name, _, heading = target.partition("#")
        page = FOLDER / name
        assert page.is_file(), target
        headings = [h.strip("# ").lower() for h in re.findall(r"^#+ .*$", _read(page), re.M)]
        assert not heading or heading in headings, target


def _read(page: Path) -> str:
    return page.read_text() if page.suffix == ".md" else ""


def test_the_generated_clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block of Python, with two short scenes."""
    pytest.importorskip("av")
    monkeypatch.chdir(tmp_path)
    _generate_clip(PYTHON[0], "SCENES, FRAMES = 2, 4")
    assert [int(row["frame"]) for row in _table("cuts.csv")] == [4]
    assert len(list(open_footage("footage/clip.mp4"))) == 8


def _generate_clip(block: str, size: str) -> None:
    short, changed = re.subn(r"SCENES, FRAMES = .*", size, block)
    assert changed == 1
    exec(compile(short, "footage.md", "exec"), {})


def test_the_export_repeats_the_options_of_the_segmentation() -> None:
    """With other options, the command would replace the events that the reader has chosen."""
    segmented = [words for words in COMMANDS if words[0] == "segment"]
    chosen, exported = segmented[-2:]
    assert exported[: len(chosen)] == chosen
    assert exported[len(chosen)] == "--export"


@pytest.mark.slow
def test_the_whole_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clip, a training that learns nothing, events, a page, live, PySceneDetect."""
    monkeypatch.chdir(tmp_path)
    first, *others = PYTHON
    _generate_clip(first, SHORTER)
    assert len(_table("cuts.csv")) == 7
    for words in COMMANDS:
        more = QUICK if words[0] == "train" else ["--json"] if words[0] == "watch" else []
        assert main([*words, *more]) == 0, words
    _check_events()
    last = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(last)["summary"]["ended"] == "end of source"
    for text in others:
        exec(compile(text, "footage.md", "exec"), {})
    assert Path("clip.edl").exists()


def _check_events() -> None:
    made = {path.name for path in Path("events").iterdir()}
    endings = ("html", "csv", "json", "level2.vtt", "level3.ffmeta", "sweep.png", "sweep.csv")
    assert {f"clip.{ending}" for ending in endings} <= made
    timeline = vpr.Timeline.from_json("events/clip.json")
    assert (timeline.frames, timeline.levels) == (400, 3)
    frames = [int(row["frame"]) for row in _table("events/clip.csv")]
    assert frames == [event.frame for event in timeline.boundaries]
    page = Path("events/clip.html").read_text()
    assert "<html" in page
    assert "clip.mp4" in page
    assert not re.search(r"""(src|href)=["']?http""", page)


def _table(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))
