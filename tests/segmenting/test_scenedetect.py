"""The detector inside the real PySceneDetect."""

import csv
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import scenedetect
import torch

from vpr import VPR, Stream, VPRError
from vpr.data import MovingBall, evaluation_rng
from vpr.segmenting.inputs import ModelInput
from vpr.segmenting.scenedetect import VPRDetector
from vpr.segmenting.segment import with_threshold
from vpr.video.fit import Fit

FRAMES = 60


@pytest.fixture(scope="module")
def model() -> VPR:
    return VPR.from_pretrained("moving-ball")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ball, twice as large as the model's frames, in lossless h264."""
    path = tmp_path_factory.mktemp("films") / "der Ball.mp4"
    frames = MovingBall().batch(1, FRAMES, evaluation_rng(3)).frames[0]
    pictures = (frames.transpose(0, 2, 3, 1) * 255).round().astype(np.uint8)
    with av.open(path, "w") as file:
        stream = file.add_stream("h264", rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = 128, 128, "yuv444p"
        stream.options = {"qp": "0"}
        for picture in pictures.repeat(2, 1).repeat(2, 2):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def seen(film: Path) -> list[np.ndarray]:
    """The pictures that PySceneDetect passes to its detectors."""
    video = scenedetect.open_video(str(film), backend="pyav")
    pictures = []
    while (picture := video.read()) is not False:
        pictures.append(np.array(picture))
    return pictures


def streamed(model: VPR, seen: list[np.ndarray], level: int = 2) -> list[int]:
    stream, fit, pixels = Stream(model), Fit.to(model.config.frame), ModelInput(model)
    frames = [pixels([fit(np.ascontiguousarray(picture[..., ::-1]))])[0] for picture in seen]
    events = [event for frame in frames for event in stream.push(frame)]
    return [event.frame for event in events if event.level == level]


def cuts(scenes: list[tuple[object, object]]) -> list[int]:
    return [start.frame_num for start, _ in scenes[1:]]  # type: ignore[attr-defined]


def test_the_cuts_are_those_of_a_stream(model: VPR, film: Path, seen: list[np.ndarray]) -> None:
    expected = streamed(model, seen)
    assert len(seen) == FRAMES
    assert 3 < len(expected) < FRAMES / 2
    scenes = scenedetect.detect(str(film), VPRDetector(model))
    assert cuts(scenes) == expected
    assert cuts(scenedetect.detect(str(film), VPRDetector("moving-ball", level=2))) == expected
    last = scenes[-1][1]
    assert (last.frame_num, last.seconds) == (FRAMES, pytest.approx(FRAMES / 25))


def test_a_manager_with_other_detectors(model: VPR, film: Path, seen: list[np.ndarray]) -> None:
    manager = scenedetect.SceneManager()
    manager.add_detector(scenedetect.ContentDetector(threshold=300))  # finds nothing
    manager.add_detector(VPRDetector(model))
    found = []
    video = scenedetect.open_video(str(film))
    manager.detect_scenes(video, callback=lambda picture, time: found.append(time.frame_num))
    assert cuts(manager.get_scene_list()) == found == streamed(model, seen)


@pytest.mark.parametrize("length", [8, 0.32, "0.32s"])
def test_short_scenes_are_left_out(
    model: VPR, film: Path, seen: list[np.ndarray], length: object
) -> None:
    expected, last = [], 0
    for frame in streamed(model, seen):
        if frame - last >= 8:
            expected.append(frame)
            last = frame
    found = cuts(scenedetect.detect(str(film), VPRDetector(model, min_scene_len=length)))
    assert found == expected != streamed(model, seen)


def test_a_threshold_is_another_gamma(model: VPR, film: Path, seen: list[np.ndarray]) -> None:
    expected = streamed(with_threshold(model, 0.001), seen)
    found = cuts(scenedetect.detect(str(film), VPRDetector(model, threshold=0.001)))
    assert found == expected != streamed(model, seen)
    assert model.rule.gamma != 0.001  # type: ignore[attr-defined]


def test_the_levels_of_a_model_and_its_stats(
    tiny_model: Callable[..., VPR], film: Path, seen: list[np.ndarray], tmp_path: Path
) -> None:
    """Three levels, grey pictures: a level is evaluated only where the one below has an event."""
    model = tiny_model(3, dtype=torch.float32)
    model.typical_kl.fill_(1e-3)
    second, third = streamed(model, seen, 2), streamed(model, seen, 3)
    assert set(third) < set(second) < set(range(1, FRAMES))
    manager = scenedetect.SceneManager(scenedetect.StatsManager())
    manager.add_detector(VPRDetector(model))
    manager.detect_scenes(scenedetect.open_video(str(film)))
    assert cuts(manager.get_scene_list()) == third
    manager.stats_manager.save_to_csv(tmp_path / "stats.csv")
    with (tmp_path / "stats.csv").open() as file:
        rows = {int(row["Frame Number"]) - 1: row for row in csv.DictReader(file)}
    asked = [n for n, row in rows.items() if row["vpr_kl_static_level_3"] != "None"]
    assert sorted(rows) == list(range(1, FRAMES))  # at the first frame nothing is compared
    assert asked == second
    for n in second:
        row = {key: float(value) for key, value in rows[n].items() if key.startswith("vpr")}
        more = row["vpr_kl_static_level_2"]
        assert more > min(row["vpr_threshold_level_2"], row["vpr_kl_change_level_2"])


def test_its_exporters_work(
    model: VPR, film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scenedetect import output

    scenes = scenedetect.detect(str(film), VPRDetector(model))
    output.write_scene_list(tmp_path / "a.csv", scenes, include_cut_list=False)
    output.write_scene_list_html(str(tmp_path / "a.html"), scenes)
    output.write_scene_list_edl(tmp_path / "a.edl", scenes)
    output.write_scene_list_otio(tmp_path / "a.otio", scenes, str(film), 25.0)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == 1 + len(scenes)
    starts = [start.get_timecode() for start, _ in scenes]
    assert all(start in (tmp_path / "a.html").read_text() for start in starts)
    edl = (tmp_path / "a.edl").read_text().splitlines()
    assert len([line for line in edl if line[:3].isdigit()]) == len(scenes)
    assert (tmp_path / "a.otio").read_text().count('"Clip.') >= len(scenes)
    commands: list[list[str]] = []
    monkeypatch.setattr(output.video, "_FFMPEG_PATH", "ffmpeg")
    monkeypatch.setattr(output.video, "invoke_command", lambda args: commands.append(args) or 0)
    output.split_video_ffmpeg(str(film), scenes, output_dir=tmp_path)
    assert [c[c.index("-ss") + 1] for c in commands] == [str(s.seconds) for s, _ in scenes]


def test_errors_are_one_line(model: VPR, tiny_model: Callable[..., VPR]) -> None:
    for words, level in (("2 to 2, got 1", 1), ("2 to 2, got 3", 3)):
        with pytest.raises(VPRError, match=words):
            VPRDetector(model, level=level)
    with pytest.raises(VPRError, match="detects no events"):
        VPRDetector(tiny_model(1))
    with pytest.raises(VPRError, match="vectors"):
        VPRDetector(tiny_model(2, frame=(7,), likelihood="gaussian"))


def test_without_the_package() -> None:
    code = "import sys; sys.modules['scenedetect'] = None; import vpr.segmenting.scenedetect"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "VPRError: the detector needs PySceneDetect: pip install 'vpr-torch[scenedetect]'" in (
        run.stderr
    )
