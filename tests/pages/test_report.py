"""`vpr report`: the page has no external resources and is small, for any model and data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from vpr.data import Batch, Dataset, MovingBall, Synthetic, ThreeDShapesDynamic, evaluation_rng
from vpr.errors import VPRError
from vpr.evaluation import score
from vpr.model import VPR
from vpr.pages.frame_strip import downscaled
from vpr.pages.report import Report, report_json, report_page, run_report
from vpr.pages.report.overview import duration, number, percent

BALL = MovingBall(size=16)
Make = Callable[..., Report]


@dataclass(frozen=True)
class Noise:
    """Unlabelled videos of random pixels, which compress badly."""

    side: int = 16
    name: str = "own videos & <tags>"

    @property
    def frame(self) -> tuple[int, ...]:
        return (3, self.side, self.side)

    def batch(self, count: int, length: int, rng: np.random.Generator) -> Batch:
        return Batch(rng.random((count, length, *self.frame), dtype=np.float32), {}, {})


def training(levels: int, steps: int = 300) -> list[dict[str, Any]]:
    """Lines as in metrics.jsonl."""
    return [
        {
            "step": step,
            "steps": steps,
            "reconstruction": 900 / step,
            "kl": [1.0 / step] * levels,
            "update_rate": [1.0 / (n + 1) for n in range(levels)],
        }
        for step in range(1, steps + 1)
    ]


@pytest.fixture(scope="module")
def make(tiny_model: Callable[..., VPR]) -> Make:
    def build(levels: int = 2, data: Dataset = BALL, length: int = 16, **fields: object) -> Report:
        lines = training(levels) if fields.pop("trained", False) else []
        model = tiny_model(levels, **{"frame": data.frame, "dtype": torch.float32, **fields})
        return run_report(model, data, run="a/run", training=lines, sequences=4, length=length)

    return build


ALL: list[dict[str, object]] = [
    {"trained": True},
    {"levels": 3},
    {"levels": 1, "trained": True},
    {"levels": 1, "data": Noise()},
    {"levels": 3, "data": Noise()},
    {"levels": 3, "rule": "always"},
    {"levels": 3, "rule": "clockwork", "intervals": (1, 4, 8)},
    {"levels": 3, "expected": False, "unexpected": False},
    {"data": Synthetic()},
    {"levels": 3, "data": ThreeDShapesDynamic(aligned=True)},
    {"length": 3, "dtype": torch.float64},
]


@pytest.mark.parametrize("fields", ALL, ids=str)
class TestPage:
    def test_has_no_external_resources_and_a_section_per_level(
        self, make: Make, fields: dict[str, object]
    ) -> None:
        report = make(**fields)
        html, levels = report_page(report), len(report.levels)
        sources = re.findall(r'(?:src|href)="(.*?)"|url\((.*?)\)', html)
        assert all("".join(each).startswith(("data:", "${strip")) for each in sources)
        words = re.sub(r"data:image[^\")]*", "", html)
        assert not re.search(r"https?:|@import|\$[a-z]", words)
        assert not re.search(r"\b(nan|inf|None)\b", words), "a number without a value was written"
        assert html.count('class="card level"') == levels
        assert html.count('class="animation"') == 3 * levels
        assert html.count('class="clip"') == 2
        assert html.count('<th scope="row">at events</th>') == levels - 1

    def test_the_json_is_json(self, make: Make, fields: dict[str, object]) -> None:
        report = make(**fields)
        content = json.loads(json.dumps(report_json(report), allow_nan=False))
        assert [level["level"] for level in content["levels"]] == [lv.level for lv in report.levels]
        assert (content["training"] is not None) == ("trained" in fields)


def test_random_pixels_weigh_less_than_ten_megabytes(make: Make) -> None:
    html = report_page(make(levels=4, data=Noise(128), length=50))
    assert 1_000_000 < len(html.encode()) <= 10_000_000


def test_without_labels_there_is_no_table_of_factors(make: Make) -> None:
    html = report_page(make(data=Noise()))
    assert "These sequences have no labels" in html
    assert 'class="heat"' not in html
    assert "own videos &amp; &lt;tags&gt;" in html


def test_without_metrics_the_page_says_so(make: Make) -> None:
    assert "There is no metrics.jsonl" in report_page(make())
    html = report_page(make(trained=True))
    assert "300 of 300 steps" in html
    assert html.count('class="panel"') == 3
    assert html.count('class="curve level"') == 1 + 2 + 2


def test_animations_can_be_paused_and_respect_reduced_motion(make: Make) -> None:
    html = report_page(make())
    assert '<button id="motion"' in html
    assert "prefers-reduced-motion: reduce" in html


def test_same_seed_same_page(make: Make) -> None:
    assert report_page(make()) == report_page(make())


class TestFacts:
    def test_equal_observe(self, tiny_model: Callable[..., VPR]) -> None:
        model = tiny_model(3, frame=BALL.frame, dtype=torch.float32)
        made = run_report(model, BALL, run="", training=[], sequences=40, length=20, seed=3)
        rng = evaluation_rng(3)
        parts = [BALL.batch(count, 20, rng) for count in (32, 8)]
        with torch.no_grad():
            trace = model.observe(torch.from_numpy(np.concatenate([b.frames for b in parts])))
        colour = np.concatenate([batch.changes["colour"] for batch in parts])
        for n, (level, seen) in enumerate(zip(made.levels, trace.levels, strict=True)):
            found = seen.evidence.boundary[:, 1:]
            assert level.update_rate == pytest.approx(float(found.float().mean()))
            assert made.factors[1].f1[n] == score(seen.evidence.boundary.numpy(), colour).f1
            assert level.kl == pytest.approx(float(seen.kl.mean()), rel=1e-4)
            moved, there = seen.evidence.kl_static[:, 1:], ~seen.evidence.kl_static[:, 1:].isnan()
            for key, where in ((level.at_events, there & found), (level.between, there & ~found)):
                assert key.frames == int(where.sum())
                if key.frames:
                    assert key.kl_static == pytest.approx(np.median(moved[where]), rel=1e-4)

    def test_something_is_detected(self, make: Make) -> None:
        """Precondition of the other tests."""
        _, second, third = make(levels=3).levels
        assert 0 < third.update_rate < second.update_rate < 1
        assert sum(second.kinds.values()) == pytest.approx(1)

    def test_a_level_that_never_updates(self, make: Make) -> None:
        report = make(levels=3, expected=False, unexpected=False)
        assert report.levels[1].update_rate == 0
        assert report.levels[1].at_events.kl_static is None
        assert duration(report.levels[1].lengths) == "–"
        assert "never updates" in report_page(report)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sequences": 1}, "2 or more sequences"),
        ({"length": 1}, "2 or more frames"),
        ({"data": Synthetic()}, "the data has"),
    ],
)
def test_invalid_arguments_raise(
    tiny_model: Callable[..., VPR], change: dict[str, Any], says: str
) -> None:
    model = tiny_model(2, frame=BALL.frame, dtype=torch.float32)
    asked = {"data": BALL, "run": "", "training": [], "sequences": 2, "length": 5, **change}
    with pytest.raises(VPRError, match=says):
        run_report(model, **asked)


def test_large_pictures_are_halved_and_others_left() -> None:
    large = np.arange(2 * 3 * 96 * 80, dtype=np.float32).reshape(2, 3, 96, 80)
    assert downscaled(large).shape == (2, 3, 48, 40)
    assert downscaled(large)[0, 0, 0, 0] == large[0, 0, :2, :2].mean()
    for shape in ((2, 3, 64, 64), (2, 200)):
        assert downscaled(np.ones(shape, np.float32)).shape == shape


def test_numbers_in_words() -> None:
    assert [number(v) for v in (None, 0.012345, 19.23)] == ["–", "0.0123", "19.2"]
    assert [percent(v) for v in (0.0, 0.002, 0.0949, 0.5, 1.0)] == [
        *("0 %", "0.2 %", "9.5 %", "50 %", "100 %")
    ]
