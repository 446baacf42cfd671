"""`vpr reproduce` end to end, at scale tiny."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vpr.cli import main
from vpr.experiments import EXPERIMENTS, experiment
from vpr.experiments.figures import mechanism
from vpr.experiments.runner.experiment import Result
from vpr.experiments.runner.periodic_log import RECORD
from vpr.experiments.runner.reproduce import Request, missing, write_outputs
from vpr.experiments.runner.settings import describe, run_config
from vpr.experiments.runner.store import load, result_path, save
from vpr.experiments.runner.table import NO_BREAK
from vpr.presets import PRESETS
from vpr.pretrained import TRAINING
from vpr.training.additions import ADDITIONS, additions_of
from vpr.training.checkpoint import RunFolder
from vpr.utils.config_json import to_dict
from vpr.utils.provenance import provenance

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "vpr", "reproduce", "criteria", "--scale", "tiny"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `criteria` was interrupted and resumed."""
    folder = tmp_path_factory.mktemp("reproduce")
    words = [*COMMAND, "--seeds", "2", "--jobs", "1"]
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE)
    _wait_until_the_second_run_trains(folder, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
    before = _results(folder)
    assert len(before) == 1
    stopped = _in_the_middle(folder)
    assert len(stopped) == 1
    assert 4 <= RunFolder(stopped[0]).load().notes["step"] < 40  # the last step
    resumed = subprocess.run(words, cwd=folder, check=True, capture_output=True)
    assert b"5 runs to go" in resumed.stderr
    after = _results(folder)
    assert len(after) == 6
    assert {path: after[path] for path in before} == before  # finished runs are kept
    assert not _in_the_middle(folder)
    return folder


def _wait_until_the_second_run_trains(folder: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        if _results(folder) and _in_the_middle(folder):
            return
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.05)
    raise AssertionError("no second run in a minute")


def _in_the_middle(folder: Path) -> list[Path]:
    """Run folders with a checkpoint that are not finished."""
    runs = [path.parent for path in folder.glob(f"runs/reproduce/*/{TRAINING}")]
    return [run for run in runs if not (run / RECORD).exists()]


def _results(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob("results/tiny/criteria/*-s*.json")}


def test_the_fields_of_a_result_file(done: Path) -> None:
    content = json.loads((done / "results/tiny/criteria/both-s1.json").read_text())
    assert content.keys() == {"seed", "config", "provenance", "seconds", "metrics"}
    assert content["seed"] == content["config"]["seed"] == 1
    assert 0 <= content["metrics"]["f1"] <= 1
    assert content["provenance"]["measured"]["torch"]
    assert content["seconds"] > 0


def test_results_have_the_provenance_of_the_trained_model(done: Path) -> None:
    content = json.loads((done / "results/tiny/criteria/both-s1.json").read_text())
    for part in ("measured", "trained"):
        assert content["provenance"][part] == provenance()


def test_check_lists_results_with_other_configurations(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(done / "results", tmp_path / "results")
    words = ["reproduce", "--check", "--scale", "tiny", "--out", str(tmp_path / "results")]
    assert main([*words, "--json"]) == 0
    nothing = {"stale": {}, "other_code": [], "unknown_code": []}
    assert json.loads(capsys.readouterr().out) == nothing
    folder = tmp_path / "results/tiny/criteria"
    other = json.loads((folder / "both-s1.json").read_text())
    other["config"]["training"]["learning_rate"] = 0.5
    (folder / "both-s1.json").write_text(json.dumps(other))
    (folder / "neither-s0.json").write_text("{}")
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["stale"]
    assert found.keys() == {str(folder / name) for name in ("both-s1.json", "neither-s0.json")}
    assert "another configuration" in found[str(folder / "both-s1.json")]
    assert "no variant 'neither'" in found[str(folder / "neither-s0.json")]
    assert main(words) == 1
    assert capsys.readouterr().out.endswith("2 results do not match the current presets.\n")


def test_check_lists_results_of_other_code_without_an_error(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(done / "results", tmp_path / "results")
    other, unknown = (tmp_path / f"results/tiny/criteria/{name}-s0.json" for name in ("both", "ce"))
    content = json.loads(other.read_text())
    content["provenance"]["trained"]["training_code"] = "another"
    other.write_text(json.dumps(content))
    del content["provenance"]["trained"]["training_code"]
    content["config"] = json.loads(unknown.read_text())["config"]
    unknown.write_text(json.dumps(content))
    words = ["reproduce", "--check", "--scale", "tiny", "--out", str(tmp_path / "results")]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"stale": {}, "other_code": [str(other)], "unknown_code": [str(unknown)]}
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        f"{other} was made by other code",
        "1 results were made by other code; 1 do not record it.",
    ]


def test_figure_summary_and_page_are_made(done: Path) -> None:
    folder = done / "results/tiny/criteria"
    assert (folder / "criteria.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "criteria.svg").read_text()
    summary = json.loads((folder / "summary.json").read_text())
    f1 = [json.loads(p.read_text())["metrics"]["f1"] for p in sorted(folder.glob("both-s*.json"))]
    assert summary["claims"][0]["ours"] == f1
    page = (done / "results/tiny/README.md").read_text().replace(NO_BREAK, " ")
    assert f"| {sum(f1) / 2:.4f} ±" in page
    assert "No results yet: `synthetic`, `mechanism`" in page


def test_the_list_counts_finished_runs(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scale", "tiny", "--seeds", "2", "--out", str(done / "results"), "--json"]
    assert main(["reproduce", "--list", *words]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows.keys() == EXPERIMENTS.keys()
    assert (rows["criteria"]["runs"], rows["criteria"]["done"]) == (6, 6)
    assert rows["adaptation"]["done"] == 0


def test_the_list_fits_into_a_terminal_and_names_a_missing_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--list", "--scale", "tiny"]) == 0
    out, err = capsys.readouterr()
    assert f"There is no folder {tmp_path / 'results'}: run this command in a clone" in err
    assert "…" not in out
    lines = out.splitlines()
    for name in EXPERIMENTS:
        assert any(line.startswith(f"│ {name} ") for line in lines), name
    assert max(map(len, lines)) <= 80
    assert len(lines) < 6 * len(EXPERIMENTS)
    Path("results").mkdir()
    assert main(["reproduce", "--list", "--scale", "tiny"]) == 0
    assert "There is no folder" not in capsys.readouterr().err


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


def test_a_failed_run_is_reported_and_the_others_continue(tmp_path: Path) -> None:
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
        (["criteria", "--seeds", "0"], "--seeds must be 1 or more"),
        (["criteria", "--jobs", "-1"], "--jobs must be 1 or more"),
        (["--list", "--seeds", "-1"], "--seeds must be 1 or more"),
        (["criteria", "--only", "cd"], "criteria has no variant 'cd': it has both, ce, cu"),
    ],
)
def test_errors_are_one_line(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *words]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"vpr: {wanted}")


def test_only_some_variants(tmp_path: Path) -> None:
    request = Request(experiment("criteria"), 2, "tiny", tmp_path, tmp_path, ("cu", "both"))
    assert [(job.variant, job.seed) for job in missing(request)] == [
        ("both", 0),
        ("cu", 0),
        ("both", 1),
        ("cu", 1),
    ]


def test_a_missing_matplotlib_is_an_error_with_instructions(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = ["criteria", "--scale", "tiny", "--seeds", "1", "--out", str(done / "results")]
    assert main(["reproduce", *words]) == 2
    assert "pip install 'vpr-torch[figures]'" in capsys.readouterr().err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_results_in_the_repository_are_consistent(name: str) -> None:
    """Every file belongs to a present variant, and the page has the values of the files."""
    experiment = EXPERIMENTS[name]
    results = load(ROOT / "results", experiment, "cpu")
    files = list((ROOT / "results" / name).glob("*-s*.json"))
    assert len(files) == sum(map(len, results.values()))
    for runs in results.values():
        assert [run.seed for run in runs] == list(range(len(runs)))  # all seeds
    for claim in experiment.claims(results) if results else []:
        mean = sum(claim.ours) / len(claim.ours)
        shown = f"{100 * mean:.1f} %" if claim.percent else f"{mean:.{claim.digits}f}"
        spread = r" ± [\d.]+( %)?" if len(claim.ours) > 1 else ""
        value = rf"{re.escape(shown)}{spread}"
        row = rf"\| {re.escape(claim.what)}\[.*\| {value} \| .*\| {len(claim.ours)} \|"
        table = (ROOT / "results" / "README.md").read_text().replace(NO_BREAK, " ")
        assert re.search(row, table, re.MULTILINE), claim.what


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_description_of_its_differences(name: str) -> None:
    config = to_dict(PRESETS[name])
    text = describe([Result("both", 0, config, {}, 0.0, {})])
    assert text.startswith(f"{name}: ")
    assert ("2 layers in each network (4)" in text) == (config["model"]["layers"] == 2)
    assert (text == f"{name}: as in the paper") == name.startswith("paper/")
    for addition in ADDITIONS:
        assert (addition.name in text) == addition.is_in(PRESETS[name])
    steps = f"at most {PRESETS[name].training.steps:,} steps (15,000)"
    assert (steps in text) == name.startswith("cpu/")
    assert "|" not in text  # would end the cell of the table


def test_descriptions_include_the_changes_of_variants() -> None:
    texts = {
        variant: describe([Result(variant, 0, to_dict(config), {}, 0.0, {})])
        for experiment in ("mechanism", "sensitivity")
        for variant, config in EXPERIMENTS[experiment].variants("cpu").items()
    }
    assert "our recipe" in texts["ours"]
    assert not any(words in texts["paper"] for words in ("our recipe", "KL balancing", "rate"))
    assert "smaller image network" in texts["paper"]
    assert "size 32 (64)" in texts["w100-g1.1"]
    assert "width 100 (200)" in texts["w100-g1.1"]


def test_mechanism_has_one_network_and_number_of_steps() -> None:
    for scale in ("cpu", "tiny", "paper"):
        ours, paper = mechanism.variants(scale).values()
        assert additions_of(ours)
        assert not additions_of(paper)
        assert ours.model == paper.model
        for name in ("steps", "batch_size", "length"):
            assert getattr(ours.training, name) == getattr(paper.training, name)
        theirs = PRESETS["paper/moving-ball"]
        assert paper.stages == theirs.stages
        for name in ("learning_rate", "final_learning_rate", "frame_nats", "kl_balancing"):
            assert getattr(paper.training, name) == getattr(theirs.training, name)
    assert mechanism.variants("cpu")["ours"] == run_config("moving-ball", "cpu")
    assert mechanism.variants("paper")["paper"] == run_config("moving-ball", "paper")


def test_the_default_number_of_seeds_is_that_of_the_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "--list", "--out", str(tmp_path), "--json"]
    assert main(words) == 0
    runs = {row["name"]: row["runs"] for row in json.loads(capsys.readouterr().out)}
    assert (runs["criteria"], runs["nested-worlds"]) == (15, 20)
    assert main([*words, "--seeds", "2"]) == 0
    runs = {row["name"]: row["runs"] for row in json.loads(capsys.readouterr().out)}
    assert (runs["criteria"], runs["nested-worlds"]) == (6, 40)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs(name: str, tmp_path: Path) -> None:
    """Measure up to two variants, and write figure, summary and results page after each."""
    experiment, folder = EXPERIMENTS[name], tmp_path / "results"
    for variant, config in list(experiment.variants("tiny").items())[:2]:
        measured = experiment.measure(config, 0, tmp_path / "runs", lambda *progress: None)
        save(result_path(folder, experiment, variant, 0), config, 0, measured)
        write_outputs(experiment, folder, "tiny")
    assert (folder / name / f"{name}.png").exists()
    summary = json.loads((folder / name / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["claims"]
    page = (folder / "README.md").read_text()
    assert all(f"| {claim['what']}[^" in page for claim in summary["claims"])
    for statement in experiment.statements(load(folder, experiment, "tiny")):
        assert f"- {statement.text}: {statement.numbers}" in page


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda content: content["config"]["model"].update(gamma=2.0), "has another configuration"),
        (lambda content: content.pop("metrics"), "is not a result file"),
    ],
)
def test_invalid_result_files_are_refused_before_anything_runs(
    change: Callable[[dict[str, Any]], object],
    wanted: str,
    done: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = json.loads((done / "results/tiny/criteria/both-s1.json").read_text())
    change(content)
    path = tmp_path / "results/tiny/criteria/both-s1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    words = [
        "--scale",
        "tiny",
        "--out",
        str(tmp_path / "results"),
        "--runs",
        str(tmp_path / "runs"),
    ]
    assert main(["reproduce", "criteria", *words]) == 2
    assert wanted in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


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
    write_outputs(EXPERIMENTS["criteria"], folder, "tiny")
    assert [path.read_bytes() for path in paths] == before
