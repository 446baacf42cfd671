"""Experiments on generated frames: claims from metrics, readers, sheets."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.conftest import tiny_run
from vpr import VPR
from vpr.data import MovingBall
from vpr.experiments.figures import disentanglement, fixed_interval, prediction
from vpr.experiments.runner.experiment import Result
from vpr.experiments.runner.settings import run_config, scaled_count
from vpr.experiments.shared.readers import SEED, evaluation_batch, reader_for
from vpr.experiments.shared.sheets import decode_image, draw_sheets, encode_sheet
from vpr.generation.film import sheet
from vpr.generation.rollout_film import rollout_film
from vpr.utils.figures import panels, write_figure


def result(**metrics: object) -> Result:
    return Result("vpr", 0, {"preset": "cpu/3dsd", "model": {}}, {}, 0.0, metrics)


def entropies(*rows: tuple[float, float, float]) -> Result:
    named = [dict(zip(("floor", "wall", "object"), row, strict=True)) for row in rows]
    scores = {kind: {"floor": 1.0, "wall": 0.5} for kind in ("true", "reconstructed")}
    return result(entropy=dict(zip("123", named, strict=True)), reader=scores)


def test_the_margin_is_negative_if_another_factor_varies_more() -> None:
    run = entropies((2.0, 0.5, 0.1), (0.3, 1.0, 1.4), (0.0, 0.0, 0.0))
    margins = [disentanglement.margin(run, level) for level in (1, 2, 3)]
    assert margins == pytest.approx([1.5, -0.4, 0.0])
    claims = disentanglement.claims({"vpr": [run], "clock-1-2-4": [run]})
    assert [claim.ours[0] for claim in claims[:3]] == pytest.approx(margins)
    assert claims[3].ours == [0.75]
    assert claims[5].what.startswith("3DSD, every 1, 2, 4 frames")


def test_the_lead_compares_levels() -> None:
    run = entropies((0.5, 0.0, 0.0), (2.0, 0.0, 0.0), (1.5, 0.0, 0.0))
    assert disentanglement.lead(run, "floor", 2) == 0.5
    assert disentanglement.lead(run, "floor", 1) == -1.5


def test_fixed_intervals_differ_from_vpr_only_in_the_rule() -> None:
    for variants in (disentanglement.variants("cpu"), fixed_interval.variants("cpu")):
        vpr = variants.pop("vpr")
        for each in variants.values():
            assert each.model.rule == "clockwork"
            changed = {**vars(each.model), "rule": "subjective", "intervals": ()}
            assert type(vpr.model)(**changed) == vpr.model
            assert replace(each, model=vpr.model) == vpr


def test_level_2_updates_at_the_last_observed_frame() -> None:
    """Otherwise its state could be older than the last change of colour."""
    assert all(
        (fixed_interval.OBSERVED - 1) % interval == 0 for interval in fixed_interval.INTERVALS
    )


def test_models_are_those_of_other_experiments() -> None:
    for name, config in prediction.EXPERIMENT.variants("cpu").items():
        assert config == run_config(name, "cpu")


def test_counts_are_reduced_only_at_scale_tiny() -> None:
    assert (
        scaled_count(run_config("3dsd", "cpu"), 100)
        == scaled_count(run_config("3dsd", "paper"), 100)
        == 100
    )
    assert scaled_count(run_config("3dsd", "tiny"), 100) == 2


def test_sheets_survive_encoding() -> None:
    torch.manual_seed(0)
    model = VPR(tiny_run(1).model)
    film = rollout_film(model, MovingBall(size=16), [1, 2], steps=3, frames=5)
    pixels = decode_image(encode_sheet(film)).astype(int)
    assert np.abs(pixels - sheet(film)).mean() < 4


def test_figures_with_images_have_no_svg(tmp_path: Path) -> None:
    torch.manual_seed(0)
    film = rollout_film(VPR(tiny_run(1).model), MovingBall(size=16), [1], steps=3, frames=5)
    written = write_figure(tmp_path / "sheets", draw_sheets({"one": encode_sheet(film)}))
    assert [path.name for path in written] == ["sheets.png"]
    with panels(1) as (figure, (axes,)):
        axes.plot([0, 1])
    written = write_figure(tmp_path / "curve", figure)
    assert [path.name for path in written] == ["curve.png", "curve.svg"]


def test_the_extractor_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = run_config("3dsd", "tiny")
    first = reader_for(config, tmp_path)
    monkeypatch.setattr("vpr.experiments.shared.readers.fit_extractor", None)
    frames = torch.from_numpy(evaluation_batch(config, 2).frames[:, -1])
    again = reader_for(config, tmp_path)(frames)
    assert all((again[name] == values).all() for name, values in first(frames).items())
    assert len(list(tmp_path.iterdir())) == 1


def test_the_seed_is_not_used_by_other_evaluations() -> None:
    assert SEED not in {0, 1, 2}
