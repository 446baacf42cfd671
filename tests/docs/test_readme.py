"""Every command and every piece of Python in the README and on the first pages of the docs runs."""

import re
import shlex
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from tests.video.encode import encode
from vpr import presets
from vpr.cli import main
from vpr.config import ModelConfig, TrainingConfig
from vpr.experiments import EXPERIMENTS
from vpr.experiments.runner.store import load
from vpr.experiments.runner.table import mean_and_std
from vpr.presets import PRESETS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMMAND_LINE = (ROOT / "docs" / "how-to" / "command-line.md").read_text()
GETTING_STARTED = ROOT / "docs" / "getting-started"
PAGES = {
    "README": README,
    "command-line": COMMAND_LINE,
    "demo": (GETTING_STARTED / "demo.md").read_text(),
    "vectors": (GETTING_STARTED / "vectors.md").read_text(),
}


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of code."""
    return re.findall(r"```(\w*)\n(.*?)```", PAGES[page], re.DOTALL)


def lines(page: str) -> list[str]:
    return [line for kind, text in blocks(page) if not kind for line in text.splitlines()]


def commands(page: str) -> list[list[str]]:
    """All but `vpr push`, which needs the hub: tests/pretrained/test_hub.py runs it."""
    found = [line for line in lines(page) if line.startswith("vpr ")]
    found = [line for line in found if not line.startswith("vpr push ")]
    return [shlex.split(line, comments=True)[1:] for line in found]


PYTHON = [(page, text) for page in PAGES for kind, text in blocks(page) if kind == "python"]

# What makes a command of minutes one of seconds; it runs the same code.
SHORT = {
    "train": ["--training.steps", "2", "--training.batch-size", "2"],
    "evaluate": ["--sequences", "2", "--length", "6"],
    "demo": ["--length", "6"],
    "report": ["--sequences", "2", "--length", "6"],
    "rollout": ["--frames", "4", "--steps", "2"],
    "sample": ["--frames", "4", "--n", "2"],
    "data": [],
    "bench": ["--repeats", "1", "--training.batch-size", "2"],
    "reproduce": ["--scale", "tiny", "--seeds", "1"],
    "segment": [],
    "watch": ["--json"],
    "evaluate-boundaries": [],
}


def test_there_is_something_to_run() -> None:
    assert [page for page, _ in PYTHON] == ["README", "demo", "vectors"]
    assert {words[0] for words in commands("command-line")} == set(SHORT)
    assert all(commands(page) for page in PAGES)


# What a page's commands leave behind, among other things.
MADE = {
    "README": ["events/clip.html", "rollout-moving-ball-frames-4-seed-3-steps-2.gif"],
    "command-line": [
        "demo.html",
        "moving-ball.gif",
        "runs/a/report.html",
        "rollout-moving-ball-frames-4-seed-3-steps-2.gif",
        "sample-moving-ball-frames-4-n-2.png",
        "events/clip.html",
    ],
    "demo": ["demo.html", "demo-3dsd.html", "sample-moving-ball-frames-4-n-2.png"],
    "vectors": ["runs/vectors/report.html"],
}


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_in_their_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _own_data(tmp_path)
    monkeypatch.setattr("vpr.cli.segment.ADAPT_SECONDS", 0.1)  # seconds of --adapt
    monkeypatch.setattr("vpr.segmenting.adapt.MIN_STEPS", 2)
    for words in commands(page):
        assert main([*words, *SHORT[words[0]]]) == 0, words
    for made in MADE[page]:
        assert (tmp_path / made).exists(), made


def _own_data(folder: Path) -> None:
    """The files of a user that the pages mention."""
    for name in ("footage", "labels"):
        (folder / name).mkdir()
    encode(folder / "footage" / "clip.mp4", 300)
    (folder / "labels" / "clip.csv").write_text("time\n0.4\n")
    vectors = np.random.default_rng(0).random((400, 16), dtype=np.float32)
    np.save(folder / "features.npy", vectors)
    np.save(folder / "new.npy", vectors[:100])


@pytest.mark.parametrize(("page", "text"), PYTHON)
def test_python_runs(page: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _own_data(tmp_path)
    for name, config in PRESETS.items():  # runs of two steps
        training = replace(config.training, steps=2, batch_size=2)
        monkeypatch.setitem(presets.PRESETS, name, replace(config, training=training))
    exec(compile(text, page, "exec"), {})


def test_other_lines_are_make_targets_that_exist() -> None:
    others = [line for line in lines("README") if not line.startswith("vpr ")]
    assert set(others) == {"make demo", ". .venv/bin/activate", "make test", "make docs"}
    for target in ("demo", "test", "docs"):
        words = ["make", "--dry-run", "--always-make", target]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "-m venv .venv" in done.stdout


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


# Row of the table of results → experiment, variant ("" is all) and the claim that it shows.
BALL = "F1 of level 2, colour changes"
WORLDS = "[Nested worlds](docs/how-to/nested-worlds.md) 100 to 119"
RESULTS = {
    f"Moving Ball | {BALL}": ("criteria", "both", "Moving Ball, level-2 F1, CE and CU"),
    f"Moving Ball, slow | {BALL}": ("adaptation", "slow", "Moving Ball, level-2 F1, slow ball"),
    "3D Shapes Dynamic | F1 of level 2, wall changes": (
        "3dsd-events",
        "both",
        "3DSD, level-2 F1, wall changes",
    ),
    "3D Shapes Dynamic | F1 of level 3, object changes": (
        "3dsd-events",
        "both",
        "3DSD, level-3 F1, object changes",
    ),
    f"Bouncing Balls | {BALL}": (
        "bouncing-balls-events",
        "both",
        "Bouncing Balls, level-2 F1, colour changes",
    ),
    "Miniworld Maze | F1 of level 2 within one frame, hallways": (
        "maze-events",
        "both",
        "Miniworld Maze, level-2 F1 within one frame, hallway changes",
    ),
    "Miniworld Maze | F1 of level 3 within one frame, colours": (
        "maze-events",
        "both",
        "Miniworld Maze, level-3 F1 within one frame, colour changes",
    ),
    f"{WORLDS} | F1, mean over levels and worlds": (
        "nested-worlds",
        "",
        "Nested worlds: F1, all levels of all worlds",
    ),
}


def test_the_table_of_results_has_these_rows() -> None:
    section = README.split("## Results")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.*) \| [^|]* \| [^|]* \| [^|]*\|$", section, re.MULTILINE)
    assert rows[1:] == list(RESULTS)  # the first is the head


@pytest.mark.parametrize("row", RESULTS)
def test_results_are_those_of_the_files(row: str) -> None:
    """A row has the numbers of the files; it may lack them only until all seeds are there."""
    paper, ours, seeds = _cells(row)
    name, variant, what = RESULTS[row]
    experiment = EXPERIMENTS[name]
    results = load(ROOT / "results", experiment, "cpu")
    wanted = [variant] if variant else list(experiment.variants("cpu"))
    counts = {len(results.get(each, [])) for each in wanted}
    if ours == "not run":
        assert min(counts) < experiment.seeds
        assert seeds == ""
        return
    (claim,) = (each for each in experiment.claims(results) if each.what == what)
    assert paper == str(claim.paper)
    assert ours.strip("*") == mean_and_std(claim)
    assert [seeds] == [str(count) for count in counts]


def _cells(row: str) -> list[str]:
    """Paper, ours, seeds."""
    (line,) = (line for line in README.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.removeprefix(f"| {row} |").strip("|").split("|")]


def test_the_number_of_options_is_right() -> None:
    options = len(fields(ModelConfig)) + len(fields(TrainingConfig)) + 1  # the seed
    assert f"{options} options of model" in COMMAND_LINE


def test_the_table_of_presets_is_complete() -> None:
    rows = [line for line in COMMAND_LINE.splitlines() if re.match(r"\| `(cpu|paper)/", line)]
    listed = [name for line in rows for name in re.findall(r"`((?:cpu|paper)/[\w-]+)`", line)]
    assert sorted(listed) == sorted(PRESETS)
    for line in rows:
        for name in re.findall(r"`((?:cpu|paper)/[\w-]+)`", line):
            assert f"{PRESETS[name].training.steps:,}" in line, name
