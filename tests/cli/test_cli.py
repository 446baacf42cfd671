"""The command from the user's side: what it prints, where, and with which exit code."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from vpr import VPR, ModelConfig, VPRError
from vpr.cli import main
from vpr.cli.show import Note
from vpr.cli.train import configured
from vpr.presets import PRESETS
from vpr.pretrained import save_pretrained, shipped_models
from vpr.training.stages import Stage
from vpr.utils.config_json import from_dict

TINY = [
    *("--data.size", "16", "--model.frame", "3,16,16", "--model.width", "12"),
    *("--model.state-size", "3", "--model.channels", "4", "--training.batch-size", "3"),
    *("--training.length", "4", "--training.log-every", "1"),
]
SCORES = {"precision", "recall", "f1", "fpr", "f1_near"}


def vpr(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def tiny_training(out: Path, *more: str, steps: int = 3) -> list[str]:
    words = ["train", "cpu/moving-ball", "--out", str(out), *TINY]
    return [*words, "--training.steps", str(steps), "--json", *more]


def save_tiny_room(folder: Path) -> Path:
    """An untrained model of three levels that sees frames of 3dsd."""
    config = ModelConfig(3, state_size=3, width=12, network="folded", channels=4)
    save_pretrained(VPR(config), folder)
    return folder


def test_train_evaluate_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    code, out, _ = vpr(capsys, *tiny_training(run))
    assert code == 0
    assert json.loads(out)["finished"]
    code, out, _ = vpr(capsys, "evaluate", run, "--sequences", 3, "--length", 8, "--json")
    assert code == 0
    assert set(json.loads(out)["levels"]["2"]["colour"]) == SCORES
    code, out, _ = vpr(capsys, "evaluate", run, "--sequences", 3, "--length", 8)
    assert code == 0
    assert "colour" in out
    code, _, err = vpr(capsys, "demo", "--model", run, "--out", tmp_path)
    assert code == 2
    assert "is a folder: name a file" in err
    page = tmp_path / "page.html"
    code, out, _ = vpr(capsys, "demo", "--model", run, "--length", 9, "--out", page)
    assert code == 0
    assert page.read_text().startswith("<!doctype html>")


def test_the_table_leaves_out_what_never_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = save_tiny_room(tmp_path / "room")
    words = ["evaluate", model, "--data", "3dsd", "--sequences", 2, "--length", 10]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert all(out.count(f" {factor} ") == 3 for factor in ("floor", "wall", "object"))
    assert {line.count("│") for line in out.splitlines() if " wall " in line} == {9}
    assert not any(factor in out for factor in ("scale", "shape", "orientation"))
    code, out, _ = vpr(capsys, *words, "--json")
    assert set(json.loads(out)["levels"]["3"]["shape"]) == SCORES


def test_demo_of_three_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, page = save_tiny_room(tmp_path / "room"), tmp_path / "page.html"
    words = ["demo", model, "--data", "3dsd", "--sequences", 1, "--length", 10, "--out", page]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert "Changes of wall that level 2 detected" in out
    assert "Changes of object that level 3 detected" in out
    code, out, _ = vpr(capsys, *words, "--json")
    assert [level["factor"] for level in json.loads(out)["levels"]] == ["wall", "object"]


def test_two_models_have_two_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert vpr(capsys, *tiny_training(Path("runs/a.1"), steps=1))[0] == 0
    words = ["--sequences", 1, "--length", 3]
    for model in (["runs/a.1"], ["--model", "./runs/a.1/"], []):
        assert vpr(capsys, "demo", *model, *words)[0] == 0
    names = sorted(path.name for path in tmp_path.glob("*.html"))
    assert names == ["demo-runs-a.1.html", "demo.html"]


def test_stopped_training_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for word in tiny_training(tmp_path / "run") if word != "--json"]
    code, _, err = vpr(capsys, *words, "--until", 2)
    assert code == 0
    assert "Training cpu/moving-ball in" in err
    assert "Stopped at step 2; run the same command again to resume." in err
    code, _, err = vpr(capsys, *words)
    assert "resuming from step 2" in err
    assert "Done" in err


def test_show_prints_the_stages_and_trains_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    words = [word for word in tiny_training(tmp_path / "run", steps=1000) if word != "--json"]
    code, out, _ = vpr(capsys, *words, "--show")
    assert code == 0
    assert "1,000 steps" in out
    for stage in PRESETS["cpu/moving-ball"].stages:
        (row,) = [line for line in out.splitlines() if line.startswith(f"│ {stage.name} ")]
        assert f"{stage.share * 1000:,.0f}" in row
        assert all(name in row for name in stage.objectives)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["cpu/3dsd", "paper/3dsd", "cpu/moving-ball"])
def test_stages_fit_into_a_terminal(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = vpr(capsys, "train", name, "--show")
    assert code == 0
    assert "…" not in out
    words = out.split()
    config = PRESETS[name]
    for stage in config.stages:
        assert all(any(word.startswith(each) for word in words) for each in stage.objectives)
        for level in range(1, config.model.levels + 1):
            assert f"{stage.beta_at(1.0, level):.2g}" in {word.strip(",") for word in words}


def test_a_note_without_room_loses_its_last_fields() -> None:
    note = Note("detect: loss 12.3, kl 1.0 2.0, updates 1.00 0.30, 1.5/s")
    for width, shown in ((60, note.text), (50, "detect: loss 12.3, kl 1.0 2.0, updates 1.00 0.30")):
        console = Console(width=width, file=StringIO())
        with console.capture() as captured:
            console.print(note)
        assert captured.get().rstrip() == shown


def test_help_of_train_says_how_to_see_defaults_and_which_options_are_paths(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = vpr(capsys, "train", "--help")
    assert "Give a PRESET to see its defaults" in " ".join(out.split())
    _, out, _ = vpr(capsys, "train", "cpu/video", "--help")
    assert "Give a PRESET" not in out
    assert "--data.path PATH" in out
    assert "--data.cache PATH" in out


def test_show_as_json_has_every_field_of_a_stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = vpr(capsys, *tiny_training(tmp_path / "run", steps=1000), "--show")
    assert code == 0
    shown = json.loads(out)
    assert shown["steps"] == 1000
    stages = [from_dict(Stage, stage, "stage") for stage in shown["stages"]]
    assert tuple(stages) == PRESETS["cpu/moving-ball"].stages
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("preset", "flags", "frame", "levels"),
    [
        ("moving-ball", {}, (3, 64, 64), 2),
        ("moving-ball", {"data.size": 32}, (3, 32, 32), 2),
        ("moving-ball", {"data": "synthetic"}, (1,), 2),
        ("nested-world", {"data.world": 1}, (3, 64, 64), 3),
        ("nested-world", {"data.world": 2}, (3, 64, 64), 4),
        ("nested-world", {"data.world": 3, "model.levels": 5}, (3, 64, 64), 5),
        ("moving-ball", {"data": "nested-world", "data.world": 2}, (3, 64, 64), 4),
    ],
)
def test_the_model_follows_the_data_where_no_flag_says_otherwise(
    preset: str, flags: dict[str, object], frame: tuple[int, ...], levels: int
) -> None:
    config = configured(PRESETS[f"cpu/{preset}"], flags)
    assert (config.model.frame, config.model.levels) == (frame, levels)


def test_a_frame_other_than_the_datas_is_refused() -> None:
    with pytest.raises(VPRError, match=r"model\.frame must be the data's: set it to 3,64,64"):
        configured(PRESETS["cpu/moving-ball"], {"model.frame": (3, 32, 32)})


def test_flags_reach_the_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--seed", "5", "--no-model.expected", "--model.gamma", "1.3"]
    flags += ["--training.frame-nats", "1.5"]
    assert vpr(capsys, *tiny_training(tmp_path / "run", *flags, steps=1))[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["seed"] == 5
    assert config["model"]["expected"] is False
    assert config["model"]["gamma"] == 1.3
    assert config["training"]["frame_nats"] == 1.5
    assert [stage["name"] for stage in config["stages"]] == [
        stage.name for stage in PRESETS["cpu/moving-ball"].stages
    ]


def test_another_kind_of_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "cpu/moving-ball", "--out", str(tmp_path / "run"), "--training.steps", "1"]
    words += ["--data", "synthetic", "--model.likelihood", "gaussian"]
    words += ["--data.period=5", "--model.frame", "1", "--model.width", "12"]
    assert vpr(capsys, *words)[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["data"]["period"] == 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("dance", "invalid choice: 'dance'"),
        ("train", "PRESET"),
        ("train cpu/cats --out {tmp}/x", "no preset 'cpu/cats': choose one of"),
        (
            "train cpu/moving-ball --wings 2 --out {tmp}/x",
            "unknown --wings 2; see vpr train --help",
        ),
        ("train cpu/moving-ball --train.steps 2", "did you mean --training.steps?"),
        ("train cpu/moving-ball --lr 2", "unknown --lr 2, did you mean --training.learning-rate?"),
        ("train cpu/moving-ball --steps 2", "did you mean --training.steps? See vpr train --help"),
        ("train moving-ball", "no preset 'moving-ball': did you mean cpu/moving-ball?"),
        ("train video --data.path x.mp4", "no preset 'video': did you mean cpu/video?"),
        ("train --out {tmp}/x", "{tmp}/x is not a run: give a PRESET to start one"),
        ("watch 7 --model moving-ball", "there is no file 7, and no camera /dev/video7"),
        ("train cpu/moving-ball --model.levels two --out {tmp}/x", "invalid int value: 'two'"),
        (
            "train cpu/moving-ball --model.levels 0 --out {tmp}/x",
            "--model.levels must be 1 or more, got 0",
        ),
        (
            "train cpu/moving-ball --training.steps -3 --out {tmp}/x",
            "vpr: --training.steps must be 1 or more, got -3",
        ),
        (
            "train cpu/moving-ball --training.batch-size 0 --out {tmp}/x",
            "vpr: --training.batch-size must be 1 or more, got 0",
        ),
        (
            "train cpu/moving-ball --model.rule clockwork --out {tmp}/x",
            "vpr: --model.intervals must have 2 numbers, one per level, such as 1,4, got none",
        ),
        ("train cpu/moving-ball --model.frame 3,x --out {tmp}/x", "--model.frame"),
        ("train cpu/moving-ball --training.length 1 --out {tmp}/x", "length must be 2 or more"),
        ("train cpu/moving-ball --out {tmp}/file", "not a run and not empty"),
        ("train cpu/moving-ball --out {tmp}/file/sub", "cannot write"),
        ("train cpu/moving-ball --seed -1 --out {tmp}/x", "seed must be 0 to"),
        ("train cpu/moving-ball --model.gamma nan --out {tmp}/x", "invalid finite number value"),
        ("train cpu/moving-ball --schedule.low 7 --out {tmp}/x", "unknown --schedule.low 7"),
        ("train cpu/moving-ball --stages 7 --out {tmp}/x", "--stages"),
        (
            "train cpu/moving-ball --training.frame-nats -1 --out {tmp}/x",
            "--training.frame-nats must be 0 or more, got -1.0",
        ),
        ("train cpu/moving-ball --until 0 --out {tmp}/x", "until must be 1 or more"),
        ("train cpu/moving-ball --accelerator mps --out {tmp}/x", "accelerator 'mps' is not"),
        ("train cpu/moving-ball --preset cpu/x --out {tmp}/x", "--preset"),
        ("data moving-ball --length 1 --out {tmp}", "--length must be 2 or more, got 1"),
        ("data moving-ball --length 0 --out {tmp}", "--length must be 2 or more, got 0"),
        ("data moving-ball --seed -1 --out {tmp}", "seed must be 0 to"),
        ("data moving-ball --out {tmp}/file/sub", "cannot write"),
        ("train cpu/moving-ball --out /proc/nowhere/x", "cannot write"),
        ("evaluate {tmp}/nothing", "no model"),
        ("evaluate {tmp}/file", "no model"),
        ("demo --model nothing-like-it", "no model 'nothing-like-it'"),
        ("report", "MODEL"),
        ("report nothing-like-it", "no model 'nothing-like-it'"),
        ("report moving-ball --sequences 1 --out {tmp}/x", "2 or more sequences"),
        ("report moving-ball --data synthetic", "the model needs frames of (3, 64, 64)"),
        ("rollout", "MODEL"),
        ("rollout nothing-like-it", "no model 'nothing-like-it'"),
        ("rollout moving-ball --level 3 --out {tmp}", "level must be 1 to 2, got 3"),
        ("rollout moving-ball --steps 0 --out {tmp}", "steps must be 1 or more, got 0"),
        ("rollout moving-ball --frames -3 --out {tmp}", "--frames must be 2 or more, got -3"),
        ("demo --sequences -1 --out {tmp}/x", "--sequences must be 1 or more, got -1"),
        ("sample moving-ball --out {tmp}/file", "--out {tmp}/file is a file: give a folder"),
        ("segment x.mp4 --out {tmp}/file", "--out {tmp}/file is a file: give a folder"),
        ("segment x.mp4 --threshold -1", "--threshold must be above 0, got -1"),
        ("watch x.mp4 --model 3dsd --threshold 0", "--threshold must be above 0, got 0"),
        ("segment x.mp4 --every -10s", "--every must be a time above 0, such as 10s, got -10s"),
        ("segment x.mp4 --every soon", "--every must be a time above 0, such as 10s, got soon"),
        ("segment x.mp4 --adapt -5", "--adapt must be a time above 0, such as 10s, got -5"),
        (
            "segment x.mp4 --model moving-ball --min-gap -1 --out {tmp}/x",
            "--min-gap must be 0 seconds or more, got -1",
        ),
        (
            "segment x.mp4 --model moving-ball --levels 5 --out {tmp}/x",
            "this model has only level 2 (level 1 has no events), got 5",
        ),
        ("evaluate-boundaries {tmp} {tmp}/labels", "{tmp}/labels does not exist"),
        ("train cpu/video --out {tmp}/x", 'give footage with --data.path "footage/*.mp4"\n'),
        ("train cpu/vectors --out {tmp}/x", "give vectors with --data.path features.npy\n"),
        ("data video --out {tmp}", 'give footage with --path "footage/*.mp4"\n'),
        ("segment x.mp4 --model cpu/moving-ball", "it first with vpr train cpu/moving-ball"),
        ("segment x.mp4 --model moving_ball", "no model 'moving_ball': did you mean moving-ball?"),
        ("evaluate {tmp}", "{tmp} is not a run folder: it has no config.json"),
        ("push {tmp} notaname", "notaname is not the name of a repository: give OWNER/NAME"),
        (
            "rollout moving-ball --data synthetic --out {tmp}",
            "the model needs frames of (3, 64, 64)",
        ),
        ("sample moving-ball --level 0 --out {tmp}", "level must be 1 to 2, got 0"),
        ("sample moving-ball --n 0 --out {tmp}", "n must be 1 or more, got 0"),
        ("sample moving-ball --seed -1 --out {tmp}", "seed must be 0 to"),
        ("sample moving-ball --steps 3 --out {tmp}", "unknown --steps 3"),
        ("data cats", "no dataset 'cats'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    words: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    code, out, err = vpr(capsys, *words.format(tmp=tmp_path).split())
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert says.format(tmp=tmp_path) in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_debug_shows_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = vpr(capsys, "--debug", "evaluate", "nothing-like-it")
    assert "Traceback" in err


def test_data_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = vpr(capsys, "data", "moving-ball", "--out", tmp_path, "--json")
    assert code == 0
    assert 0.1 < json.loads(out)["change_rates"]["colour"] < 0.35
    assert (tmp_path / "moving-ball.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "moving-ball.gif").read_bytes().startswith(b"GIF8")


@pytest.fixture
def no_pyav(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vpr.generation.film.can_write_mp4", lambda: False)


@pytest.mark.usefixtures("no_pyav")
def test_rollout_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rollout", "moving-ball", "--steps", 3, "--frames", 12, "--out", tmp_path]
    code, out, err = vpr(capsys, *words, "--samples", "--below", "means", "--json")
    assert code == 0
    assert "No MP4 without PyAV: pip install 'vpr-torch[video]'." in err
    told = json.loads(out)
    assert (told["data"], told["frames"], told["steps"]) == ("moving-ball", 12, 3)
    assert told["samples"]
    assert told["below"] == "means"
    assert [level["factor"] for level in told["levels"]] == ["position", "colour"]
    assert told["levels"][0]["events"] == [12, 13, 14]
    assert Path(told["sheet"]).read_bytes().startswith(b"\x89PNG")
    assert Path(told["gif"]).read_bytes().startswith(b"GIF8")
    assert "mp4" not in told
    code, out, _ = vpr(capsys, *words, "--level", 2)
    assert code == 0
    assert "3 predictions after 12 frames of moving-ball" in out
    assert "colour" in out
    assert "position" not in out
    names = {path.stem for path in tmp_path.iterdir()}
    drawn, second = "frames-12-steps-3-samples-below-means", "level-2-frames-12-steps-3"
    assert names == {f"rollout-moving-ball-{variant}" for variant in (drawn, second)}


@pytest.mark.usefixtures("no_pyav")
def test_sample_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sample", "moving-ball", "--n", 3, "--frames", 12, "--out", tmp_path]
    code, out, _ = vpr(capsys, *words)
    assert code == 0
    assert "3 samples after 12 frames of moving-ball" in out
    usual = "sample-moving-ball-frames-12-n-3"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{usual}.png", f"{usual}.gif"}
    broad = json.loads(vpr(capsys, *words, "--json")[1])["levels"]
    sharp = json.loads(vpr(capsys, *words, "--past", "--json")[1])["levels"]
    assert [level["level"] for level in broad] == [1, 2]
    assert all(a["std"] > 1.2 * b["std"] for a, b in zip(broad, sharp, strict=True))
    assert {path.stem for path in tmp_path.iterdir()} == {usual, f"{usual}-past"}


def test_with_pyav_there_is_a_video(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av")
    words = ["rollout", "moving-ball", "--steps", 2, "--frames", 5, "--out", tmp_path, "--json"]
    code, out, err = vpr(capsys, *words)
    assert code == 0
    assert "PyAV" not in err
    assert b"ftyp" in Path(json.loads(out)["mp4"]).read_bytes()[:12]


@pytest.mark.usefixtures("no_pyav")
def test_a_run_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the data it was trained on, with its own files."""
    run = tmp_path / "run"
    assert vpr(capsys, *tiny_training(run, steps=1))[0] == 0
    for command in ("rollout", "sample"):
        code, out, _ = vpr(capsys, command, run, "--frames", 3, "--out", tmp_path, "--json")
        assert code == 0
        assert json.loads(out)["sheet"].endswith("run-frames-3.png")


def test_report_of_a_run_lies_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, few = tmp_path / "run", ["--sequences", 2, "--length", 6]
    assert vpr(capsys, *tiny_training(run))[0] == 0
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')  # the process was killed here
    code, out, _ = vpr(capsys, "report", run, *few, "--json")
    assert code == 0
    told = json.loads(out)
    assert told["report"] == str(run / "report.html")
    assert told["training"]["step"] == 3
    assert [factor["name"] for factor in told["factors"]] == ["position", "colour"]
    intended = PRESETS["cpu/moving-ball"].training.steps
    assert told["unfinished"] == [3, intended]
    page = (run / "report.html").read_text()
    assert "3 of 3 steps" in page
    assert f"This model was trained for 3 of {intended:,} steps" in page
    other = tmp_path / "page.html"
    code, out, _ = vpr(capsys, "report", run, *few, "--out", other)
    assert code == 0
    assert "probe of colour" in out
    assert f"Open {other} in a browser." in out
    assert other.read_text() == (run / "report.html").read_text()
    assert vpr(capsys, *tiny_training(run, steps=3))[0] == 0, "the run can still go on"


def test_report_of_a_shipped_model_lies_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = vpr(capsys, "report", "moving-ball", "--sequences", 2, "--length", 6)
    assert code == 0
    assert "Open report-moving-ball.html in a browser." in out
    assert "There is no metrics.jsonl" in Path("report-moving-ball.html").read_text()


def test_the_command_is_installed_and_starts_fast_enough_to_show_help() -> None:
    words = [sys.executable, "-m", "vpr", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "demo" in done.stdout
    assert "Detect events in video" in done.stdout


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_do_not_import_torch(flag: str) -> None:
    code = f"import sys; from vpr.cli import main\ntry: main([{flag!r}])\nexcept SystemExit: pass\n"
    code += "assert not {'torch', 'numpy', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True, capture_output=True)


def test_every_flag_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = vpr(capsys, "train", "cpu/moving-ball", "--help")
    assert code == 0
    for flag in ("--model.levels", "--training.steps", "--data.speed", "--seed", "--show"):
        assert flag in out


def test_help_shows_common_options_and_help_all_the_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, short_help, _ = vpr(capsys, "train", "cpu/video", "--help")
    code, long_help, _ = vpr(capsys, "train", "cpu/video", "--help-all")
    assert code == 0
    assert "--data.path" in short_help
    for flag in ("--model.gamma", "--training.clip"):
        assert flag not in short_help
        assert flag in long_help
    _, without_preset, _ = vpr(capsys, "train", "--help")
    assert len(without_preset.splitlines()) < 70


def test_the_bare_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = vpr(capsys)
    assert (code, err) == (0, "")
    assert out.startswith("usage: vpr")


def test_a_run_is_extended_without_its_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vpr(capsys, *tiny_training(tmp_path / "run", steps=2))[0] == 0
    code, out, _ = vpr(
        capsys, "train", "--out", tmp_path / "run", "--training.steps", "3", "--json"
    )
    assert code == 0
    assert json.loads(out)["step"] == 3
    code, _, err = vpr(capsys, *tiny_training(tmp_path / "run", steps=2))
    assert code == 2
    assert "holds a run of 3 steps" in err


def test_shares_of_criteria_do_not_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = vpr(capsys, "evaluate", "moving-ball", "--sequences", "4", "--length", "20")
    (row,) = (line for line in out.split("ELBO")[1].splitlines() if line.startswith("│ 2"))
    _, _, _, *shares, _, _ = (cell.strip() for cell in row.split("│"))
    assert sum(map(float, shares)) == pytest.approx(1, abs=0.002)


def test_shipped_models_are_listed() -> None:
    assert "moving-ball" in shipped_models()
