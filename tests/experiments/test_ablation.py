"""Removing additions to the paper's training, and the ablation experiment."""

import json
from dataclasses import fields, replace

import pytest

from vpr.cli import main
from vpr.config import RunConfig
from vpr.experiments.figures import ablation
from vpr.experiments.runner.experiment import Result, Results
from vpr.experiments.shared.datasets import scored_events
from vpr.presets import PAPER_STAGES, PRESETS, RECIPE, preset
from vpr.training.additions import ADDITIONS, Addition, addition, additions_of
from vpr.training.stages import Stage
from vpr.utils.config_json import from_dict, to_dict

BALL = preset("cpu/moving-ball")
# A configuration with all additions, also those that the recipe does not use.
WHOLE = replace(
    BALL,
    stages=(
        Stage(
            "random",
            0.35,
            beta_ratio=(0.05, 0.05),
            criteria=(),
            random_updates=0.25,
            objectives=("persistence", "overshooting"),
            until_explained=0.5,
        ),
        Stage("detect", 0.25, beta_ratio=(0.05, 1.0), criteria=("CU",), random_updates=0.1),
        Stage("train", 0.4, decay=True, objectives=("overshooting", "persistence", "bottleneck")),
    ),
    training=replace(BALL.training, frame_nats=200.0),
)
CHANGED = {  # the only field of the stages that `remove` may change
    "persistence": "objectives",
    "overshooting": "objectives",
    "bottleneck": "objectives",
}


def _changed(one: Stage, other: Stage) -> set[str]:
    return {f.name for f in fields(one) if getattr(one, f.name) != getattr(other, f.name)}


@pytest.mark.parametrize("each", ADDITIONS, ids=lambda each: each.name)
def test_remove_removes_exactly_one_addition(each: Addition) -> None:
    left = each.remove(WHOLE)
    assert set(additions_of(WHOLE)) - set(additions_of(left)) == {each}
    assert each.remove(left) == left
    assert from_dict(RunConfig, json.loads(json.dumps(to_dict(left))), "config") == left
    assert (left.seed, left.data, left.preset) == (WHOLE.seed, WHOLE.data, WHOLE.preset)
    assert each.motivation.endswith(".")


@pytest.mark.parametrize(("name", "field"), CHANGED.items())
def test_remove_changes_one_field_of_the_stages(name: str, field: str) -> None:
    left = addition(name).remove(WHOLE)
    assert replace(left, stages=WHOLE.stages) == WHOLE
    pairs = list(zip(WHOLE.stages, left.stages, strict=True))
    assert set().union(*(_changed(*pair) for pair in pairs)) == {field}


def test_an_objective_is_removed_from_all_stages() -> None:
    left = addition("persistence").remove(WHOLE)
    objectives = [stage.objectives for stage in left.stages]
    assert objectives == [("overshooting",), (), ("overshooting", "bottleneck")]


def test_random_updates_are_removed_from_all_stages() -> None:
    left = addition("random-updates").remove(WHOLE)
    assert [stage.random_updates for stage in left.stages] == [0.0, 0.0, 0.0]
    cu = ("CU",)  # a stage without criteria takes those of the next stage
    assert [stage.criteria for stage in left.stages] == [cu, cu, ("CE", "CU")]


def test_without_bottom_up_annealing_beta_rises_linearly_from_0() -> None:
    """β rises during all stages before the last, with both criteria."""
    left = addition("bottom-up-annealing").remove(WHOLE)
    assert replace(left, stages=WHOLE.stages) == WHOLE
    anneal, train = left.stages
    assert anneal.share == pytest.approx(0.6)
    assert anneal.criteria == ("CE", "CU")
    assert (anneal.until_explained, anneal.random_updates) == (1.0, 0.25)
    for done in (0.0, 0.25, 1.0):
        assert anneal.beta_at(done) == pytest.approx(done)
        assert anneal.beta_at(done, level=2) == pytest.approx(done)
    assert train == WHOLE.stages[2]


def test_removed_numbers_are_those_of_the_paper() -> None:
    left = addition("data-scaled-reconstruction").remove(WHOLE)
    assert left == replace(WHOLE, training=replace(WHOLE.training, frame_nats=0.0))


def test_all_cpu_presets_have_the_same_additions_and_paper_presets_none() -> None:
    own = set(additions_of(BALL))
    assert {each.name for each in own} >= {"persistence", "bottom-up-annealing"}
    for name, config in PRESETS.items():
        assert set(additions_of(config)) == (own if name.startswith("cpu/") else set())


def test_without_all_additions_the_stages_are_those_of_the_paper() -> None:
    """Except for the names, the shares and the decay of the learning rate."""
    config = BALL
    for each in additions_of(BALL):
        config = each.remove(config)
    assert len(config.stages) == len(PAPER_STAGES)
    for ours, theirs in zip(config.stages, PAPER_STAGES, strict=True):
        assert _changed(ours, theirs) <= {"name", "share", "decay"}


def _shown(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert main(["train", "cpu/moving-ball", "--show", "--json", *words]) == 0
    stages: list[dict[str, object]] = json.loads(capsys.readouterr().out)["stages"]
    return stages


def test_the_option_without_removes_additions(capsys: pytest.CaptureFixture[str]) -> None:
    plain = [to_dict(stage) for stage in RECIPE]
    assert _shown(capsys) == json.loads(json.dumps(plain))
    stages = _shown(capsys, "--without", "random-updates", "--without", "persistence")
    assert all(stage["random_updates"] == 0.0 for stage in stages)
    assert not any("persistence" in stage["objectives"] for stage in stages)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["cpu/moving-ball", "--without", "nothing"], "no addition 'nothing': choose from"),
        (["paper/moving-ball", "--without", "persistence"], "has no persistence to leave out"),
    ],
)
def test_errors_are_one_line(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *words, "--show"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert wanted in line


def _results() -> Results:
    """Two seeds of each variant; F1 is 0.9, without an addition 0.5."""
    found = {}
    for name, config in ablation.variants("cpu").items():
        f1 = 0.9 if name.endswith("-full") else 0.5
        metrics = {"f1": f1} | {
            f"f1_{events}": f1 for events in scored_events(config.data).values()
        }
        if not name.startswith("world"):
            metrics["ahead"] = dict.fromkeys(scored_events(config.data).values(), f1 / 2)
        found[name] = [Result(name, seed, to_dict(config), {}, 1.0, metrics) for seed in (0, 1)]
    return found


def test_variants_remove_every_addition_on_every_dataset() -> None:
    found = ablation.variants("cpu")
    for name in ("moving-ball", "3dsd", "world"):
        full = found[f"{name}-full"]
        for each in additions_of(full):
            assert found.pop(f"{name}-without-{each.name}") == each.remove(full)
    assert len(found) == 3
    assert found["moving-ball-full"] == BALL
    assert ablation.EXPERIMENT.seeds == 3


def test_claims_cover_every_level_and_figures_the_existing_results() -> None:
    results = _results()
    rows = {claim.what: claim for claim in ablation.claims(results)}
    assert rows["3DSD, our recipe: level-3 F1"].ours == [0.9, 0.9]
    left_out = rows["Nested world 4, without persistence: level-2 F1"]
    assert left_out.ours == [0.5, 0.5]
    assert left_out.setting == rows["Nested world 4, our recipe: level-2 F1"].setting
    additions = len(additions_of(BALL))
    assert rows["3DSD, without overshooting: 200 events ahead, object"].ours == [0.25, 0.25]
    levels = sum(config.model.levels - 1 for config in ablation.datasets("cpu").values())
    factors = 3  # colour, wall, object
    assert len(rows) == (levels + factors) * (1 + additions)
    texts = [text.get_text() for text in ablation.draw(results).axes[0].texts]
    assert [texts.count(each) for each in ("0.900", "0.500")] == [3, 3 * additions]
    assert [texts.count(each) for each in ("0.450", "0.250")] == [2, 2 * additions]
    some = {name: results[name] for name in ("3dsd-full", "moving-ball-without-persistence")}
    axes = ablation.draw(some).axes[0]
    assert [text.get_text() for text in axes.texts] == [
        "",
        "0.900",
        "",
        "0.450",
        "0.500",
        "",
        "0.250",
        "",
    ]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["our recipe", "without persistence"]
