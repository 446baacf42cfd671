"""`vpr.segment`, from footage to a timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import vpr
from tests.segmenting.made import frames_of, scenes, write_video
from vpr import VPR, Stream, VPRError
from vpr.segmenting import recorder
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.segment import CHUNK
from vpr.video import Frame

Factory = Callable[..., Any]


@pytest.fixture(scope="module")
def model(tiny_model: Factory) -> VPR:
    model: VPR = tiny_model(3, seed=12, window=5, frame=(3, 16, 16), dtype=torch.float32)
    model.typical_kl.fill_(0.5)
    return model


def test_an_array_gives_what_a_stream_gives(model: VPR) -> None:
    pictures = scenes(50)
    timeline, stream = vpr.segment(pictures, model), Stream(model)
    pushed = [b for frame in ModelInput(model)(list(pictures)) for b in stream.push(frame)]
    assert [each[:1] + each[2:4] for each in timeline.boundaries] == [each[:3] for each in pushed]
    for event in timeline.boundaries:
        assert event.time == Fraction(event.frame, 25)
        curves = timeline.curves[event.level]
        assert curves.kl_static[event.frame] == np.float32(event.kl_static)
        assert curves.threshold[event.frame] == np.float32(event.threshold)
    assert timeline.frames == len(timeline.times) == len(timeline.curves[2].kl_static) == 50
    assert np.isnan(timeline.curves[3].kl_static).any()
    assert np.isfinite(timeline.curves[2].kl_static[1:]).all()
    assert timeline.span == (0, 2)


def test_an_encoded_file(model: VPR, tmp_path: Path) -> None:
    path = tmp_path / "Überfall 映画.mp4"
    write_video(path, scenes(45))
    progress: list[tuple[int, int | None]] = []
    timeline = vpr.segment(path, model, on_progress=lambda *now: progress.append(now))
    assert timeline.frames == 45
    assert timeline.source == str(path)
    assert timeline.problem is None
    assert progress[-1] == (45, 45)
    assert timeline.end == Fraction(45, 25)
    assert set(timeline.pictures) >= {event.frame for event in timeline.boundaries}
    assert timeline.pictures[0].startswith(b"\xff\xd8")


def test_frames_keep_their_own_exact_times(model: VPR) -> None:
    """Rates may vary and footage may start anywhere."""
    rng = np.random.default_rng(0)
    pts = np.cumsum(rng.integers(1, 5000, 40)) + 77
    base = Fraction(1, 90_000)
    shown = [Frame(p, n, int(pts[n]), base) for n, p in enumerate(scenes(40))]
    timeline = vpr.segment(iter(shown), model)
    assert len(timeline.boundaries) > 5
    assert all(event.time == int(pts[event.frame]) * base for event in timeline.boundaries)
    assert timeline.start == int(pts[0]) * base
    assert timeline.end == int(2 * pts[-1] - pts[-2]) * base


def test_frames_of_another_size_are_fitted(model: VPR) -> None:
    pictures = scenes(30)
    large = pictures.repeat(3, 1).repeat(3, 2)
    assert vpr.segment(frames_of(large), model).boundaries == (
        vpr.segment(frames_of(pictures), model).boundaries
    )


def test_a_grey_model_and_coloured_footage(tiny_model: Factory) -> None:
    assert vpr.segment(scenes(9), tiny_model(2)).frames == 9


def test_one_frame_is_a_timeline_without_events(model: VPR, tmp_path: Path) -> None:
    timeline = vpr.segment(scenes(1), model)
    assert (timeline.frames, timeline.boundaries) == (1, [])
    assert "One frame: no events are possible." in timeline.warnings
    assert list(timeline.pictures) == [0]
    timeline.to_html(tmp_path / "a.html")
    timeline.plot()
    assert "Level 2, start" in timeline.to_webvtt(tmp_path / "a.vtt")[0].read_text()


def test_levels_and_gap(model: VPR) -> None:
    every = vpr.segment(scenes(60), model)
    top = vpr.segment(scenes(60), model, levels=[3])
    assert top.boundaries == every.events(3) != []
    assert list(top.curves) == top.reported_levels == [3]
    spread = vpr.segment(scenes(60), model, min_gap=0.2)
    assert 0 < len(spread.events(2)) < len(every.events(2))


def test_a_threshold_makes_fewer_events(model: VPR) -> None:
    counts = [
        sum(
            event.kind != "expected"
            for event in vpr.segment(scenes(80), model, threshold=g).events(2)
        )
        for g in (0.1, 1.1, 30.0)
    ]
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (r"levels 2 to 3 \(level 1 has no events\), got 1", {"levels": [1]}),
        ("this model has levels 2 to 3 .*, got 4", {"levels": [2, 4]}),
        ("at least one level", {"levels": []}),
        ("min_gap must be 0", {"min_gap": -1}),
        ("min_gap must be 0", {"min_gap": float("nan")}),
        ("gamma", {"threshold": -1.0}),
        ("fit must be one of", {"fit": "squeeze"}),
    ],
)
def test_invalid_settings(model: VPR, words: str, asked: dict[str, Any]) -> None:
    with pytest.raises(VPRError, match=words):
        vpr.segment(scenes(3), model, **asked)


def test_invalid_footage(model: VPR, tiny_model: Factory, tmp_path: Path) -> None:
    bad = scenes(4) / 255
    bad[2, 0, 0, 0] = np.nan
    (tmp_path / "a.mp4").write_text("no video at all")
    cases: list[tuple[Any, str]] = [
        (iter(()), "has no frames"),
        (3, "a path, an array or frames"),
        (
            np.zeros((5, 7)),
            r"it looks like vectors, for a model trained with vpr train cpu/vectors",
        ),
        (iter([scenes(1)]), "must be vpr.video.Frame"),
        (bad, "NaN or infinity in frame 2"),
        (tmp_path / "a.mp4", r"a\.mp4 is not a video file$"),
        (reversed(list(frames_of(scenes(3)))), "sort the frames"),
    ]
    for what, words in cases:
        with pytest.raises(VPRError, match=words) as caught:
            vpr.segment(what, model)
        assert "\n" not in str(caught.value)
    with pytest.raises(VPRError, match="vectors"):
        vpr.segment(scenes(3), tiny_model(2, frame=(7,)))


def test_memory_is_constant(model: VPR, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most one chunk of frames and two more are in memory; the number of pictures is bounded."""
    monkeypatch.setattr(recorder, "MAX_EVENTS", 5)
    monkeypatch.setattr(recorder, "MAX_REGULAR", 4)
    alive, most = 0, 0

    class Heavy:
        def __init__(self) -> None:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __call__(self, width: int) -> Any:
            return np.zeros((4, 4, 3), np.uint8)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def shown() -> Iterator[Frame]:
        for frame in frames_of(scenes(200)):
            yield frame._replace(whole=Heavy())

    timeline = vpr.segment(shown(), model)
    assert CHUNK <= most <= CHUNK + 2
    assert len(timeline.boundaries) > 20
    assert 5 <= len(timeline.pictures) <= 9
