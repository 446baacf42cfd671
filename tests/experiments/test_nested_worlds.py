"""The benchmark of nested worlds: variants, scores, claims and figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vpr.data import NestedWorld, evaluation_rng
from vpr.data.nested_world import level_changes
from vpr.experiments.figures.nested_worlds import EXPERIMENT, claims, draw, is_solved, variants
from vpr.experiments.runner.experiment import Result, Results
from vpr.experiments.runner.inspect_training import LENGTH, SEED, SEQUENCES, inspect_model
from vpr.experiments.shared.datasets import LabelledWorld, labelled
from vpr.model import VPR
from vpr.presets import preset
from vpr.utils.config_json import to_dict


def _scores(f1: float) -> dict[str, float]:
    return {"f1": f1, "precision": f1, "recall": f1, "fpr": 0.0}


def _level(f1: float) -> dict[str, Any]:
    others = {"random": _scores(0.2), "periodic": _scores(0.1), "own": _scores(f1 / 2)}
    time = {"step": 500, "seconds": 120.0} if f1 >= 0.95 else None
    return _scores(f1) | others | {"factor": "shape", "update_rate": 0.2, "time_to_f1": time}


def _results(**worlds: tuple[float, ...]) -> Results:
    """World → F1 of levels 2, 3, …; one run each."""
    configs = variants("cpu")
    found = {}
    for name, f1 in worlds.items():
        variant = name.replace("_", "-")
        levels = {str(n): _level(value) for n, value in enumerate(f1, start=2)}
        config = to_dict(configs[variant])
        found[variant] = [Result(variant, 0, config, {}, 1.0, {"levels": levels})]
    return found


def test_variants_are_the_evaluation_worlds_with_one_configuration() -> None:
    found, plain = variants("cpu"), preset("cpu/nested-world")
    assert list(found) == [f"world-{world}" for world in range(100, 120)]
    for name, config in found.items():
        assert isinstance(config.data, NestedWorld)
        assert name == f"world-{config.data.world}"
        assert config.model.levels == len(config.data.spec.factors)
        assert (config.training, config.stages) == (plain.training, plain.stages)
        assert not config.data.clean
    assert variants("paper") == found
    assert EXPERIMENT.seeds == 1


def test_labels_have_the_true_events_of_levels_and_factors() -> None:
    world = NestedWorld(world=1)  # independent clocks
    assert isinstance(labelled(world), LabelledWorld)
    plain, labelled_batch = (
        each.batch(8, 40, evaluation_rng(0)) for each in (world, labelled(world))
    )
    assert (plain.frames == labelled_batch.frames).all()
    assert list(labelled_batch.changes) == [*plain.changes, "level 2", "level 3"]
    for level, marks in level_changes(plain).items():
        assert (labelled_batch.changes[f"level {level}"] == marks).all()
    factor = plain.changes[world.spec.factors[1]]
    assert (
        labelled_batch.changes["level 2"] != factor
    ).any()  # factor 3 changes at other frames too


def test_inspections_score_a_level_against_its_own_events(tiny_model: Callable[..., VPR]) -> None:
    data = NestedWorld(world=1)
    model = tiny_model(levels=3, frame=data.frame)
    levels = inspect_model(model, model.rule, data)
    truth = level_changes(data.batch(SEQUENCES, LENGTH, evaluation_rng(SEED)))
    for level, marks in truth.items():
        assert levels[str(level)]["sequence"]["true"] == marks[0, 1:].tolist()


def test_metrics_have_both_scores_controls_and_the_world(tmp_path: Path) -> None:
    config = variants("tiny")["world-101"]
    assert isinstance(config.data, NestedWorld)
    metrics = EXPERIMENT.measure(config, 0, tmp_path, lambda *progress: None).metrics
    assert metrics["world"] == config.data.description
    assert metrics["levels"].keys() == {str(n) for n in range(2, config.model.levels + 1)}
    batch = config.data.batch(256, 50, evaluation_rng(0))
    for level, found in metrics["levels"].items():
        assert found["factor"] == config.data.spec.factors[int(level) - 1]
        assert {"precision", "recall", "f1", "update_rate", "time_to_f1"} <= found.keys()
        assert {"precision", "recall", "f1"} <= found["own"].keys() & found["random"].keys()
        # Boundaries that are correct = precision × rate = recall × rate of true events.
        for scores, true in (
            (found, level_changes(batch)[int(level)]),
            (found["own"], batch.changes[found["factor"]]),
        ):
            rate = np.mean(true[:, 1:])
            hits = scores["precision"] * found["update_rate"]
            assert hits == pytest.approx(scores["recall"] * rate)


def test_claims_are_means_over_levels_and_a_count_of_worlds() -> None:
    results = _results(world_100=(0.9,), world_101=(0.96, 0.8), world_102=(1.0, 1.0, 0.85))
    rows = {claim.what.removeprefix("Nested worlds: "): claim for claim in claims(results)}
    assert rows["F1, all levels of all worlds"].ours == [0.9, 0.96, 1.0, 0.8, 1.0, 0.85]
    assert rows["level-3 F1"].ours == [0.8, 1.0]
    controls = rows["F1, all levels of all worlds"].controls
    assert controls is not None
    assert controls.random == [0.2] * 6
    assert rows["worlds of 3 in which every level has F1 ≥ 0.85"].ours == [2.0]
    minutes = next(claim for what, claim in rows.items() if what.startswith("minutes"))
    assert minutes.ours == [2.0] * 3
    assert [is_solved(runs) for runs in results.values()] == [True, False, True]


def test_a_world_is_solved_by_the_mean_of_its_runs() -> None:
    (runs,) = _results(world_100=(0.7,)).values()
    (others,) = _results(world_100=(0.99,)).values()
    assert not is_solved([*runs, *others])
    assert is_solved([*runs, *others, *others])


@pytest.mark.parametrize(
    ("worlds", "titles"),
    [
        ({"world_100": (0.5,)}, ["level 2, mean 0.500"]),
        (
            {"world_102": (0.9, 0.8, 0.7), "world_100": (0.7,)},
            ["level 2, mean 0.800", "level 3, mean 0.800", "level 4, mean 0.700"],
        ),
    ],
)
def test_the_figure_shows_the_worlds_with_results(
    worlds: dict[str, tuple[float, ...]], titles: list[str]
) -> None:
    figure = draw(_results(**worlds))
    assert [axes.get_title() for axes in figure.axes] == titles
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ticks == ["100", "102"][: len(worlds)]  # sorted by F1
