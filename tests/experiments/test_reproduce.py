"""`vpr reproduce` from end to end, at the scale of seconds."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vpr.cli import main
from vpr.experiments import EXPERIMENTS
from vpr.experiments.base import Result, Results
from vpr.experiments.reproduce import conclude
from vpr.experiments.store import load

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "vpr", "reproduce", "criteria", "--scale", "tiny"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `criteria` was stopped in the middle, and went on."""
    folder = tmp_path_factory.mktemp("reproduce")
    words = [*COMMAND, "--seeds", "2", "--jobs", "1"]
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE)
    _wait_for_the_first_result(folder, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
    before = _results(folder)
    assert 1 <= len(before) < 6
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    after = _results(folder)
    assert len(after) == 6
    assert {path: after[path] for path in before} == before  # finished runs are kept
    return folder


def _wait_for_the_first_result(folder: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if _results(folder):
            return
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.1)
    raise AssertionError("no result in a minute")


def _results(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob("results/tiny/criteria/*-s*.json")}


def test_results_have_what_people_look_for(done: Path) -> None:
    content = json.loads((done / "results/tiny/criteria/both-s1.json").read_text())
    assert content.keys() == {"seed", "config", "versions", "seconds", "metrics"}
    assert content["seed"] == content["config"]["seed"] == 1
    assert 0 <= content["metrics"]["f1"] <= 1
    assert content["versions"]["torch"]
    assert content["seconds"] > 0


def test_figure_summary_and_table_are_made(done: Path) -> None:
    folder = done / "results/tiny/criteria"
    assert (folder / "criteria.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "criteria.svg").read_text()
    summary = json.loads((folder / "summary.json").read_text())
    f1 = [json.loads(p.read_text())["metrics"]["f1"] for p in sorted(folder.glob("both-s*.json"))]
    assert summary["claims"][0]["ours"] == f1
    table = (done / "results/tiny/README.md").read_text()
    assert f"| {sum(f1) / 2:.4f} ±" in table


def test_the_list_tells_what_is_done(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scale", "tiny", "--seeds", "2", "--out", str(done / "results"), "--json"]
    assert main(["reproduce", "--list", *words]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows.keys() == EXPERIMENTS.keys()
    assert (rows["criteria"]["runs"], rows["criteria"]["done"]) == (6, 6)
    assert rows["adaptation"]["done"] == 0


def test_runs_are_shared_between_experiments(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("decision", "entropy"):
        words = ["--scale", "tiny", "--seeds", "1", "--out", str(done / "results")]
        runs = done / "runs" / "reproduce"
        before = sorted(runs.iterdir())
        assert main(["reproduce", name, *words, "--runs", str(runs), "--json"]) == 0
        assert sorted(runs.iterdir()) == before
        assert json.loads(capsys.readouterr().out)["claims"]


def test_a_run_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    words = [*COMMAND, "--seeds", "1", "--jobs", "2", "--runs", "runs"]
    (tmp_path / "runs").write_text("a file where a folder should be")
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.count("failed: ") == 3
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], "name an experiment"),
        (["nonsense"], "no experiment 'nonsense': choose one of"),
        (["criteria", "--seeds", "0"], "seeds and jobs must be 1 or more"),
        (["criteria", "--jobs", "-1"], "seeds and jobs must be 1 or more"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *words]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith(f"vpr: {wanted}")


def test_figures_without_matplotlib_say_what_to_install(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = ["criteria", "--scale", "tiny", "--seeds", "1", "--out", str(done / "results")]
    assert main(["reproduce", *words]) == 2
    assert "pip install 'vpr-torch[figures]'" in capsys.readouterr().err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_in_the_repository_was_made_by_the_command(name: str) -> None:
    """Every file belongs to a variant as it is now, and the table says what the files say."""
    experiment = EXPERIMENTS[name]
    results = load(ROOT / "results", experiment, "cpu")
    files = list((ROOT / "results" / name).glob("*-s*.json"))
    assert len(files) == sum(map(len, results.values()))
    for runs in results.values():
        assert [run.seed for run in runs] == list(range(len(runs)))  # none was left out
    for claim in experiment.claims(results) if results else []:
        mean = sum(claim.ours) / len(claim.ours)
        shown = f"{100 * mean:.1f} %" if claim.percent else f"{mean:.4f}"
        row = rf"\| {re.escape(claim.what)} \|.*\| {re.escape(shown)} ± .*\| {len(claim.ours)} \|"
        table = (ROOT / "results" / "README.md").read_text()
        assert re.search(row, table, re.MULTILINE), claim.what


def test_a_figure_is_drawn_of_whatever_is_there(tmp_path: Path) -> None:
    """One run of one variant is enough for each experiment's figure and table."""
    for name, experiment in EXPERIMENTS.items():
        results = load(ROOT / "results", experiment, "cpu")
        for variant, runs in results.items():
            some: Results = {variant: runs[:1]}
            assert experiment.draw(some).axes, name
            assert all(claim.ours for claim in experiment.claims(some)), name


def test_results_read_back(done: Path) -> None:
    results = load(done / "results/tiny", EXPERIMENTS["criteria"], "tiny")
    assert {name: [run.seed for run in runs] for name, runs in results.items()} == {
        "both": [0, 1],
        "ce": [0, 1],
        "cu": [0, 1],
    }
    assert all(isinstance(run, Result) for runs in results.values() for run in runs)


def test_the_same_files_give_the_same_figure(done: Path) -> None:
    folder = done / "results" / "tiny"
    paths = [folder / "criteria" / f"criteria.{kind}" for kind in ("png", "svg")]
    before = [path.read_bytes() for path in paths]
    conclude(EXPERIMENTS["criteria"], folder, "tiny")
    assert [path.read_bytes() for path in paths] == before
