"""Every command and every piece of Python in the README runs."""

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
from vpr.experiments.runner.table import shown
from vpr.presets import PRESETS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
LINES = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
COMMANDS = [shlex.split(line, comments=True)[1:] for line in LINES if line.startswith("vpr ")]

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
    assert len(PYTHON) >= 2
    assert {words[0] for words in COMMANDS} == set(SHORT)


def test_commands_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _own_data(tmp_path)
    for words in COMMANDS:
        assert main([*words, *SHORT[words[0]]]) == 0, words
    assert (tmp_path / "demo.html").exists()
    assert (tmp_path / "moving-ball.gif").exists()
    assert (tmp_path / "runs" / "a" / "report.html").exists()
    assert (tmp_path / "rollout-moving-ball-frames-4-seed-3-steps-2.gif").exists()
    assert (tmp_path / "sample-moving-ball-frames-4-n-2.png").exists()
    assert (tmp_path / "events" / "clip.html").exists()


def _own_data(folder: Path) -> None:
    """What the README takes a user to have."""
    for name in ("footage", "labels"):
        (folder / name).mkdir()
    encode(folder / "footage" / "clip.mp4", 300)
    (folder / "labels" / "clip.csv").write_text("time\n0.4\n")
    vectors = np.random.default_rng(0).random((400, 16), dtype=np.float32)
    np.save(folder / "features.npy", vectors)


@pytest.mark.parametrize("text", PYTHON)
def test_python_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _own_data(tmp_path)
    for name, config in PRESETS.items():  # runs of two steps
        training = replace(config.training, steps=2, batch_size=2)
        monkeypatch.setitem(presets.PRESETS, name, replace(config, training=training))
    exec(compile(text, "README.md", "exec"), {})


def test_other_lines_are_make_targets_that_exist() -> None:
    others = [line for line in LINES if not line.startswith("vpr ")]
    assert set(others) == {"make demo", ". .venv/bin/activate", "make test"}
    for target in ("demo", "test"):
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
    f"Moving Ball, slow | {BALL}": ("adaptation", "slow", "Moving Ball, slow ball: level-2 F1"),
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
    if ours == "being computed":
        assert min(counts) < experiment.seeds
        assert seeds == ""
        return
    (claim,) = (each for each in experiment.claims(results) if each.what == what)
    assert paper == claim.paper
    assert ours.strip("*") == shown(claim)
    assert [seeds] == [str(count) for count in counts]


def _cells(row: str) -> list[str]:
    """Paper, ours, seeds."""
    (line,) = (line for line in README.splitlines() if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in line.removeprefix(f"| {row} |").strip("|").split("|")]


def test_the_number_of_options_is_right() -> None:
    options = len(fields(ModelConfig)) + len(fields(TrainingConfig)) + 1  # the seed
    assert f"{options} options of model" in README


def test_the_table_of_presets_is_complete() -> None:
    lines = [line for line in README.splitlines() if re.match(r"\| `(cpu|paper)/", line)]
    listed = [name for line in lines for name in re.findall(r"`((?:cpu|paper)/[\w-]+)`", line)]
    assert sorted(listed) == sorted(PRESETS)
    for line in lines:
        for name in re.findall(r"`((?:cpu|paper)/[\w-]+)`", line):
            assert f"{PRESETS[name].training.steps:,}" in line, name
