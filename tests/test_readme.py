"""Every command and every piece of Python in the README runs."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.video.encode import encode
from vpr.cli import main
from vpr.experiments import EXPERIMENTS
from vpr.experiments.store import load
from vpr.experiments.table import shown

ROOT = Path(__file__).parent.parent
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
    _own_footage(tmp_path)
    for words in COMMANDS:
        assert main([*words, *SHORT[words[0]]]) == 0, words
    assert (tmp_path / "demo.html").exists()
    assert (tmp_path / "moving-ball.gif").exists()
    assert (tmp_path / "runs" / "a" / "report.html").exists()
    assert (tmp_path / "rollout-moving-ball-frames-4-seed-3-steps-2.gif").exists()
    assert (tmp_path / "sample-moving-ball-frames-4-n-2.png").exists()
    assert (tmp_path / "events" / "clip.html").exists()


def _own_footage(folder: Path) -> None:
    """What the README takes a user to have."""
    for name in ("footage", "labels"):
        (folder / name).mkdir()
    encode(folder / "footage" / "clip.mp4", 300)
    (folder / "labels" / "clip.csv").write_text("time\n0.4\n")


@pytest.mark.parametrize("text", PYTHON)
def test_python_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
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


def test_results_are_those_of_the_files() -> None:
    """Every seed that was run stands in the table, with the numbers that were measured."""
    rows = []
    for path in sorted((ROOT / "results" / "depth").glob("two-s*.json")):
        run = json.loads(path.read_text())
        cells = [run["metrics"][name] for name in ("f1", "precision", "recall", "random_f1")]
        numbers = " | ".join(f"{value:.4f}" for value in cells)
        rows.append(f"| {run['seed']} | {numbers} | {run['seconds'] / 60:.0f} |")
    assert re.findall(r"^\| \d.*$", README, re.MULTILINE) == rows
    for name, headlines in (("depth", 1), ("bouncing-balls-events", 1), ("3dsd-events", 2)):
        experiment = EXPERIMENTS[name]
        for claim in experiment.claims(load(ROOT / "results", experiment, "cpu"))[:headlines]:
            assert f"**{shown(claim)}**" in README


def test_the_montage_is_that_of_the_files() -> None:
    experiment = EXPERIMENTS["montage"]
    claims = experiment.claims(load(ROOT / "results", experiment, "cpu"))
    told = [f"{claim.ours[0]:.4f}" for claim in claims]
    assert [len(claim.ours) for claim in claims] == [1] * 5  # one run, as the README says
    assert f"F1 of **{told[1]}**" in README
    assert all(number in README for number in told[2:])
