"""`vpr demo`: the page has no external resources; its marks, table and JSON agree."""

from __future__ import annotations

import colorsys
import json
import re
from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vpr.data import BouncingBalls, Dataset, MovingBall, Synthetic, ThreeDShapesDynamic
from vpr.data.discs import COLOURS
from vpr.data.three_d_shapes import FACTORS, HUES, rooms
from vpr.errors import VPRError
from vpr.evaluation import score
from vpr.model import VPR
from vpr.pages.demo import Demo, demo_json, demo_page, run_demo, summary_rows
from vpr.pages.demo.demo_animation import PAUSE, write_animation
from vpr.pages.demo.demo_page import frame_tips
from vpr.pages.demo.demo_run import scores_of
from vpr.pages.factors import NAMES
from vpr.pages.sequence_curves import LogScale
from vpr.pages.sequence_marks import listed
from vpr.pages.sequence_view import CELL, FRAME

BALL = MovingBall(size=16)
BALLS = BouncingBalls(size=16)
ROOM = ThreeDShapesDynamic(aligned=True)
STILL = ("scale", "shape", "orientation")
Show = Callable[..., Demo]


@pytest.fixture(scope="module")
def show(tiny_model: Callable[..., VPR]) -> Show:
    def build(levels: int = 2, sequences: int = 3, data: Dataset = BALL, **fields: object) -> Demo:
        model = tiny_model(levels, **{"frame": data.frame, "dtype": torch.float32, **fields})
        return run_demo(model, data, sequences=sequences, length=24, seed=1)

    return build


ALL = [
    {},
    {"levels": 3},
    {"levels": 3, "rule": "always"},
    {"levels": 3, "rule": "clockwork", "intervals": (1, 4, 8)},
    {"levels": 3, "expected": False, "unexpected": False},
    {"data": Synthetic()},
    {"levels": 3, "data": ROOM},
    {"data": BALLS},
    {"sequences": 1, "dtype": torch.float64},
]


def followed(demo: Demo) -> list[str]:
    """The factors of all levels, each once."""
    return list(dict.fromkeys(level.factor for level in demo.clips[0].levels))


class TestRun:
    def test_equals_observe(self, tiny_model: Callable[..., VPR]) -> None:
        model = tiny_model(3, frame=BALL.frame, dtype=torch.float32)
        demo = run_demo(model, BALL, sequences=2, length=20, seed=3)
        frames = torch.from_numpy(np.stack([clip.frames for clip in demo.clips]))
        with torch.no_grad():
            trace = model.observe(frames)
        for i, clip in enumerate(demo.clips):
            assert clip.reconstruction.shape == clip.frames.shape
            for level, seen in zip(clip.levels, trace.levels[1:], strict=True):
                marked = 1 + np.flatnonzero(seen.evidence.boundary[i, 1:])
                assert [b.frame for b in level.boundaries] == marked.tolist()
                assert all(b.level == level.level for b in level.boundaries)
                np.testing.assert_array_equal(level.kl_static, seen.evidence.kl_static[i])

    def test_same_seed_same_demo(self, show: Show) -> None:
        assert demo_page(show()) == demo_page(show())

    def test_something_is_detected(self, show: Show) -> None:
        """Precondition of the other tests."""
        first, upper = show(levels=3).clips[0].levels
        assert 0 < len(upper.boundaries) < len(first.boundaries) < 23

    @pytest.mark.parametrize(
        ("levels", "change", "says"),
        [
            (2, {"sequences": 0}, "1 or more sequences"),
            (2, {"length": 1}, "2 or more frames"),
            (1, {}, "one level detects no events"),
            (2, {"data": Synthetic()}, "the data has"),
        ],
    )
    def test_invalid_arguments_raise(
        self, tiny_model: Callable[..., VPR], levels: int, change: dict[str, object], says: str
    ) -> None:
        model = tiny_model(levels, frame=BALL.frame, dtype=torch.float32)
        arguments = {"data": BALL, "sequences": 1, "length": 5, "seed": 0, **change}
        with pytest.raises(VPRError, match=says):
            run_demo(model, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", ALL, ids=str)
class TestPage:
    def test_has_no_external_resources(self, show: Show, fields: dict[str, object]) -> None:
        html = demo_page(show(**fields))
        sources = re.findall(r'(?:src|href)="(.*?)"', html)
        assert all(source.startswith("data:") for source in sources)
        words = re.sub(r'"data:[^"]*"', "", html)
        assert not re.search(r"https?:|@import", words)
        assert not re.search(r"\b(nan|inf)\b", words), "a number without a value was written"
        assert len(html.encode()) < 1_500_000

    def test_one_view_per_sequence(self, show: Show, fields: dict[str, object]) -> None:
        demo = show(**fields)
        html, clips, levels = demo_page(demo), len(demo.clips), len(demo.levels)
        assert html.count('class="clip"') == clips
        assert html.count('class="strip"') == 2 * clips
        assert html.count('class="numbers"') == levels
        lanes = re.findall(r'aria-label="level (\d): \w+ changes found', html)
        assert lanes == [str(n) for n in range(2, levels + 2)] * clips

    def test_marks_are_counted_right(self, show: Show, fields: dict[str, object]) -> None:
        demo = show(**fields)
        views = demo_page(demo).split('class="clip"', 1)[1]
        total = [row for row in summary_rows(demo) if row.sequence is None]
        assert views.count('class="true"') == sum(
            int(clip.changes[name].sum()) for clip in demo.clips for name in followed(demo)
        )
        assert views.count('class="disc ') == sum(row.found for row in total)
        assert views.count('class="cross ') == sum(row.false for row in total)
        assert views.count('class="ring"') == sum(row.missed for row in total)
        assert views.count('class="band ') == sum(row.detected for row in total)

    def test_a_tip_for_each_frame(self, show: Show, fields: dict[str, object]) -> None:
        demo = show(**fields)
        scripts = re.findall(r'<script type="application/json">(.*?)</script>', demo_page(demo))
        assert [json.loads(text) for text in scripts] == [frame_tips(demo, c) for c in demo.clips]
        assert all(len(frame_tips(demo, clip)) == 24 for clip in demo.clips)


@pytest.mark.parametrize("fields", ALL, ids=str)
class TestNumbers:
    def test_rows_agree_with_scores(self, show: Show, fields: dict[str, object]) -> None:
        demo = show(**fields)
        rows = summary_rows(demo)
        assert len(rows) == (len(demo.clips) + 1) * len(demo.levels)
        for row in rows:
            clips = demo.clips if row.sequence is None else [demo.clips[row.sequence - 1]]
            true = np.stack([clip.changes[row.factor] for clip in clips])
            detected = np.zeros_like(true)
            for marks, clip in zip(detected, clips, strict=True):
                marks[[b.frame for b in clip.levels[row.level - 2].boundaries]] = True
            expected = score(detected, true)
            assert row.f1 == expected.f1
            assert row.found == round(expected.recall * row.changes)
            assert row.detected == detected.sum() == row.found + row.false
            assert row.changes == true.sum() == row.found + row.missed
            assert row.detected == row.expected + row.unexpected + row.both + row.clock

    def test_json(self, show: Show, fields: dict[str, object]) -> None:
        demo = show(**fields)
        data = json.loads(json.dumps(demo_json(demo), allow_nan=False))
        assert [level["f1"] for level in data["levels"]] == [
            scores_of(each).f1 for each in demo.levels
        ]
        for sequence, clip in zip(data["sequences"], demo.clips, strict=True):
            assert list(sequence["changes"]) == followed(demo)
            for level in sequence["levels"]:
                changes = np.flatnonzero(clip.changes[level["factor"]]).tolist()
                assert sequence["changes"][level["factor"]] == changes
                hits = [b["frame"] for b in level["boundaries"] if b["true"]]
                assert sorted(hits + level["missed_frames"]) == changes


class TestLevels:
    def test_each_level_is_scored_against_its_factor(self, show: Show) -> None:
        """A level that always updates finds all changes: wall every 4 frames, object every 8."""
        demo = show(levels=3, data=ROOM, rule="always")
        for clip in demo.clips:
            wall, thing = clip.levels
            assert (wall.factor, thing.factor) == ("wall", "object")
            assert wall.outcome.found == (4, 8, 12, 16, 20)
            assert thing.outcome.found == (8, 16)
            assert len(thing.outcome.false) == 21
        assert [scores_of(each).precision for each in demo.levels] == [5 / 23, 2 / 23]

    def test_missed_changes_are_those_of_its_own_factor(self, show: Show) -> None:
        demo = show(levels=3, data=ROOM, expected=False, unexpected=False)
        for wall, thing in (clip.levels for clip in demo.clips):
            assert wall.outcome.missed == (4, 8, 12, 16, 20)
            assert thing.outcome.missed == (8, 16)

    def test_the_view_has_the_changes_of_a_factor_over_its_levels(self, show: Show) -> None:
        view = demo_page(show(levels=3, data=ROOM, sequences=1)).split('class="clip"', 1)[1]
        labels = re.findall(r'class="label">([^<]+)<', view)
        assert labels == [
            *("video", "wall changes", "level 2 · wall events"),
            *("object changes", "level 3 · object events", "reconstruction"),
        ]
        assert re.findall(r"<b>(level .*?)</b>", view) == ["level 2 · wall", "level 3 · object"]
        hairlines = [each.count('class="guide"') for each in re.findall("<svg.*?</svg>", view)]
        # Ruler; two lanes of the wall and two of the object; each level's axis and its curves.
        assert hairlines == [0, 5, 5, 2, 2, 0, 5, 0, 2]

    def test_the_page_names_the_factor_of_each_level(self, show: Show) -> None:
        html = demo_page(show(levels=3, data=ROOM, sequences=1))
        assert "Level 2 should follow the wall, level 3 the object." in html
        assert "the wall or the object truly changes" in html
        assert "<h2>Level 2 · wall</h2>" in html

    def test_levels_with_one_factor_share_its_lane(self, show: Show) -> None:
        view = demo_page(show(levels=3, sequences=1)).split('class="clip"', 1)[1]
        assert view.count(">colour changes<") == 1

    def test_one_level_needs_no_factor_beside_its_number(self, show: Show) -> None:
        html = demo_page(show())
        assert "<h2>Level 2</h2>" in html
        assert ">level 2 events<" in html
        assert "should follow" not in html


class TestFactors:
    def test_constant_factors_are_shown_once_and_in_no_tooltip(self, show: Show) -> None:
        demo = show(levels=3, data=ROOM)
        headers = re.findall(r"<header><h2>Sequence.*?</header>", demo_page(demo))
        for header, clip in zip(headers, demo.clips, strict=True):
            words = [f"{name} {NAMES['3dsd', name][clip.factors[name][0]]}" for name in STILL]
            assert header.endswith(f"<p>{' · '.join(words)}</p></header>")
            assert not any(name in tip for name in STILL for tip in frame_tips(demo, clip))
            assert all(
                f"<dt>{name}</dt>" in frame_tips(demo, clip)[0] for name in ("floor", "wall")
            )

    def test_a_factor_to_follow_stays_in_the_tips_where_it_never_changes(self, show: Show) -> None:
        demo = show(data=MovingBall(size=16, speed=0.01, change_probability=0.0))
        assert not any(clip.changes["colour"].any() for clip in demo.clips)
        assert all("<dt>colour</dt>" in frame_tips(demo, clip)[5] for clip in demo.clips)
        assert "<p>colour" not in demo_page(demo)

    def test_a_value_for_each_ball(self, show: Show) -> None:
        demo = show(data=BALLS)
        clip = demo.clips[0]
        colours, names = clip.factors["colour"], NAMES["bouncing-balls", "colour"]
        changed = colours[1:] != colours[:-1]
        t = 1 + int(np.flatnonzero(changed.any(1))[0])
        words = [
            f"{names[a]} → {names[b]}" if a != b else names[b]
            for a, b in zip(colours[t - 1], colours[t], strict=True)
        ]
        assert len(words) == 2
        assert f"<dt>colour</dt><dd>{', '.join(words)}</dd>" in frame_tips(demo, clip)[t]
        assert "colour-1" not in demo_page(demo)
        assert "position" not in "".join(frame_tips(demo, clip))


class TestParts:
    def test_strip_lines_up_with_the_columns(self, show: Show) -> None:
        demo = show()
        source = re.findall(r'src="data:image/png;base64,(.*?)"', demo_page(demo))[0]
        picture = np.asarray(Image.open(BytesIO(b64decode(source))))
        cell = picture.shape[1] / 24
        assert cell / CELL == 16 * 2 / FRAME  # small frames are doubled
        third = picture[:, int(3 * cell) + 1 : int(4 * cell) - 1 : 2]
        np.testing.assert_array_equal(
            third[..., :3] / 255, demo.clips[0].frames[3].transpose(1, 2, 0)
        )
        assert (third[..., 3] == 255).all()
        assert (picture[:, int(3 * cell), 3] == 0).all()

    def test_colours_have_their_names(self) -> None:
        rgb = {"red": 4, "green": 2, "cyan": 3, "magenta": 5, "yellow": 6, "blue": 1}
        names = NAMES["moving-ball", "colour"]
        assert [rgb[name] for name in names] == (COLOURS @ [4, 2, 1]).tolist()

    def test_hues_have_their_names(self) -> None:
        usual = {"red": 0, "orange": 30, "lime": 75, "green": 115, "mint": 150, "cyan": 180}
        usual |= {"blue": 225, "indigo": 255, "purple": 285, "pink": 330}
        for name, rgb in zip(NAMES["3dsd", "object"], HUES.tolist(), strict=True):
            degrees = 360 * colorsys.rgb_to_hsv(*rgb)[0]
            apart = {word: abs((degrees - at + 180) % 360 - 180) for word, at in usual.items()}
            assert name == min(apart, key=lambda word: apart[word])

    def test_every_value_of_3dsd_has_a_name(self) -> None:
        sizes = [len(NAMES["3dsd", name]) for name in FACTORS]
        assert tuple(sizes) == rooms().sizes
        assert [NAMES["3dsd", name][0] for name in STILL] == ["0.75", "cube", "−30°"]

    def test_tooltip_shows_the_change(self, show: Show) -> None:
        demo = show()
        clip = demo.clips[0]
        t = int(np.flatnonzero(clip.changes["colour"])[0])
        names = NAMES["moving-ball", "colour"]
        before, after = (names[int(clip.factors["colour"][k])] for k in (t - 1, t))
        assert f"{before} → {after}" in frame_tips(demo, clip)[t]

    def test_listed(self) -> None:
        assert listed([]) == "no frame"
        assert listed([3, 4, 5, 9]) == "frames 3–5, 9"

    @pytest.mark.parametrize(("low", "high"), [(-5.0, 3.0), (-0.3, 0.4), (0.35, 0.85)])
    def test_scale(self, low: float, high: float) -> None:
        scale = LogScale(low, high)
        assert scale.y(10**low) > scale.y(10**high)
        assert scale.y(0.0) == scale.y(10**low)
        assert scale.ticks()
        assert all(low <= np.log10(tick) <= high for tick in scale.ticks())


@pytest.mark.parametrize("fields", [{}, {"levels": 3, "data": ROOM}])
def test_the_animation_shows_every_frame(
    fields: dict[str, object], show: Show, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    clip, drawn = show(sequences=1, **fields).clips[0], []
    write_animation(tmp_path / "demo.gif", clip, drawn.append)
    assert drawn == list(range(1, len(clip.frames) + 1))
    with Image.open(tmp_path / "demo.gif") as gif:
        durations = []
        pictures = set()
        for k in range(gif.n_frames):
            gif.seek(k)
            durations.append(gif.info["duration"])
            pictures.add(gif.convert("RGB").tobytes())
    assert len(pictures) == len(clip.frames)  # no two are equal
    assert sum(durations) == (len(clip.frames) + PAUSE) * durations[0]
