"""Experiments about what models make: what they claim follows from what they measured."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR
from vpr.data import MovingBall
from vpr.experiments.figures import disentanglement, fixed_interval, imagination, prediction
from vpr.experiments.runner.base import Result
from vpr.experiments.runner.finished import amount
from vpr.experiments.runner.settings import run_of
from vpr.experiments.shared.panels import panels, write_figure
from vpr.experiments.shared.readers import SEED, reader_for, watched
from vpr.experiments.shared.sheets import as_pixels, as_text, draw_sheets
from vpr.generation.film_sheet import sheet
from vpr.generation.rollout_film import rollout_film


def result(**metrics: object) -> Result:
    return Result("vpr", 0, {"preset": "cpu/3dsd", "model": {}}, {}, 0.0, metrics)


def entropies(*rows: tuple[float, float, float]) -> Result:
    named = [dict(zip(("floor", "wall", "object"), row, strict=True)) for row in rows]
    scores = {kind: {"floor": 1.0, "wall": 0.5} for kind in ("true", "reconstructed")}
    return result(entropy=dict(zip("123", named, strict=True)), reader=scores)


def test_a_level_whose_samples_vary_another_factor_falls_short() -> None:
    run = entropies((2.0, 0.5, 0.1), (0.3, 1.0, 1.4), (0.0, 0.0, 0.0))
    margins = [disentanglement.margin(run, level) for level in (1, 2, 3)]
    assert margins == pytest.approx([1.5, -0.4, 0.0])
    claims = disentanglement.claims({"vpr": [run], "clock-1-2-4": [run]})
    assert [claim.ours[0] for claim in claims[:3]] == pytest.approx(margins)
    assert claims[3].ours == [0.75]
    assert claims[5].what.startswith("3DSD, every 1, 2, 4 frames")


def test_clocks_differ_from_vpr_in_their_rule_only() -> None:
    for variants in (disentanglement.variants("cpu"), fixed_interval.variants("cpu")):
        vpr = variants.pop("vpr")
        for each in variants.values():
            assert each.model.rule == "clockwork"
            changed = {**vars(each.model), "rule": "subjective", "intervals": ()}
            assert type(vpr.model)(**changed) == vpr.model
            assert replace(each, model=vpr.model) == vpr


def test_clocks_are_asked_at_a_tick() -> None:
    """A state from before the last change of colour would be blamed for painting the old one."""
    assert all(
        (fixed_interval.WATCHED - 1) % interval == 0 for interval in fixed_interval.INTERVALS
    )


def test_models_are_those_of_other_experiments() -> None:
    for name, config in prediction.EXPERIMENT.variants("cpu").items():
        assert config == run_of(name, "cpu")


def test_only_a_run_of_seconds_is_asked_for_less() -> None:
    assert amount(run_of("3dsd", "cpu"), 100) == amount(run_of("3dsd", "paper"), 100) == 100
    assert amount(run_of("3dsd", "tiny"), 100) == 2


def test_lengths_that_are_too_short_count_like_those_too_long() -> None:
    calibration = {"error": 0.01, "skill": 0.5}
    runs = [
        result(
            levels={
                "2": {
                    "lengths": {"imagined": {"mean": mean}, "true": {"mean": 5.0}},
                    "calibration": calibration,
                }
            }
        )
        for mean in (4.0, 6.0)
    ]
    first, error, _ = imagination.claims({"moving-ball": runs})
    assert first.ours == pytest.approx([0.2, 0.2])
    assert first.percent
    assert error.ours == [0.01, 0.01]


def test_a_sheet_comes_back_as_it_went_but_for_a_little() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1).model)
    film = rollout_film(model, MovingBall(size=16), [1, 2], steps=3, frames=5)
    pixels = as_pixels(as_text(film)).astype(int)
    assert np.abs(pixels - sheet(film)).mean() < 4


def test_sheets_are_pictures_and_not_drawings(tmp_path: Path) -> None:
    torch.manual_seed(0)
    film = rollout_film(VPR(tiny_run(1).model), MovingBall(size=16), [1], steps=3, frames=5)
    written = write_figure(tmp_path / "sheets", draw_sheets({"one": as_text(film)}))
    assert [path.name for path in written] == ["sheets.png"]
    with panels(1) as (figure, (axes,)):
        axes.plot([0, 1])
    written = write_figure(tmp_path / "curve", figure)
    assert [path.name for path in written] == ["curve.png", "curve.svg"]


def test_the_extractor_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = run_of("3dsd", "tiny")
    first = reader_for(config, tmp_path)
    monkeypatch.setattr("vpr.experiments.shared.readers.fit_extractor", None)
    frames = torch.from_numpy(watched(config, 2).frames[:, -1])
    again = reader_for(config, tmp_path)(frames)
    assert all((again[name] == values).all() for name, values in first(frames).items())
    assert len(list(tmp_path.iterdir())) == 1


def test_sequences_are_others_than_those_of_the_scores() -> None:
    assert SEED not in {0, 1, 2}
