"""The examples in the pages on live video, PySceneDetect and evaluation run; links exist."""

import re
from pathlib import Path

import av
import numpy as np
import pytest

from vpr.cli.commands import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
STREAMING, SCENEDETECT = "guide/streaming.md", "how-to/pyscenedetect.md"
EVALUATING = "how-to/evaluate-boundaries.md"
PAGES = {name: (DOCS / name).read_text() for name in (STREAMING, SCENEDETECT, EVALUATING)}


def python(page: str) -> str:
    """All Python of a page; later blocks continue the earlier ones."""
    blocks = re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL)
    assert blocks
    return "\n".join(blocks)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGES[page])
    assert all(
        (DOCS / page).parent.joinpath(link).is_file()
        for link in links
        if not link.startswith("https://")
    )
    commands = re.findall(r"^(?:.* \| )?vpr ([\w-]+)", PAGES[page], re.MULTILINE)
    assert set(commands) <= set(COMMANDS)


def test_matching_in_python() -> None:
    names: dict[str, object] = {}
    exec(python(EVALUATING), names)
    scores = names["scores"]
    assert (scores.precision, scores.recall) == (2 / 3, 1.0)  # type: ignore[attr-defined]


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """clip.mp4 in the current folder: black, then white."""
    monkeypatch.chdir(tmp_path)
    with av.open("clip.mp4", "w") as file:
        stream = file.add_stream("h264", rate=25)
        stream.width = stream.height = 64
        for n in range(6):
            picture = np.full((64, 64, 3), 255 * (n >= 4), np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())


@pytest.mark.usefixtures("clip")
def test_a_stream_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    exec(python(STREAMING), {})
    assert "0.16 2 " in capsys.readouterr().out
    assert Path("camera.state").exists()


@pytest.mark.usefixtures("clip")
def test_a_detector_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    from scenedetect import output

    monkeypatch.setattr(output, "split_video_ffmpeg", lambda path, scenes: len(scenes))
    code = python(SCENEDETECT).replace('"runs/mine", level=3', '"moving-ball"')
    exec(code, {})
    assert "AX" in Path("clip.edl").read_text()
