"""A sweep gives the same counts as single runs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import vpr
from tests.segmenting.made import frames_of, scenes
from vpr import VPR, VPRError
from vpr.events import Clockwork, Subjective
from vpr.segmenting.inputs import IterableSource
from vpr.segmenting.sweep import Sweep, as_csv, as_png, gammas_around, sweep, write_sweep
from vpr.video import Fit

Factory = Callable[..., Any]
FIT = Fit(16, 16)
GAMMAS = (0.3, 1.1, 2.5, 20.0)


@pytest.fixture(scope="module")
def model(tiny_model: Factory) -> VPR:
    model: VPR = tiny_model(3, seed=12, window=5, frame=(3, 16, 16))
    model.typical_kl.fill_(0.5)
    return model


@pytest.fixture(scope="module")
def swept(model: VPR) -> Sweep:
    return sweep(IterableSource(frames_of(scenes(70))), model, GAMMAS)


def test_each_gamma_counts_what_it_counts_alone(model: VPR, swept: Sweep) -> None:
    for place, gamma in enumerate(GAMMAS):
        alone = vpr.segment(scenes(70), model, threshold=gamma)
        assert {n: int(counts[place]) for n, counts in swept.events.items()} == {
            n: len(alone.events(n)) for n in (2, 3)
        }
    assert len(set(swept.events[2].tolist())) > 2
    assert isinstance(model.rule, Subjective)


def test_the_models_own_gamma_is_among_them(model: VPR) -> None:
    assert 1.1 in gammas_around(1.1)
    found = sweep(IterableSource(frames_of(scenes(5))), model)
    assert (found.model_gamma, len(found.gammas), found.frames) == (1.1, 13, 5)


def test_table_and_figure(swept: Sweep, tmp_path: Path) -> None:
    rows = list(csv.DictReader(StringIO(as_csv(swept))))
    assert [int(row["events"]) for row in rows[:4]] == swept.events[2].tolist()
    assert float(rows[0]["events_per_minute"]) == pytest.approx(
        60 * int(rows[0]["events"]) / swept.seconds, rel=1e-3
    )
    picture = np.asarray(Image.open(BytesIO(as_png(swept))).convert("RGB"))
    assert min(picture.shape[:2]) > 300
    assert picture.std() > 5
    paths = write_sweep(tmp_path / "a" / "clip.mp4", swept)
    assert [path.name for path in paths] == ["clip.mp4.sweep.csv", "clip.mp4.sweep.png"]
    assert all(path.exists() for path in paths)


def test_errors(model: VPR, tiny_model: Factory) -> None:
    with pytest.raises(VPRError, match="has no frames"):
        sweep(IterableSource(()), model)
    ticking = tiny_model(2, frame=(3, 16, 16))
    ticking.rule = Clockwork((1, 2))
    with pytest.raises(VPRError, match="no threshold to set"):
        sweep(IterableSource(frames_of(scenes(3))), ticking)
