"""`vpr app` as a running server, through Gradio's client and in a browser."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.app.test_jobs import model, upload
from tests.cli.test_cli import vpr
from tests.pages.chromium import CHROMIUM, FLAGS
from vpr.app.server import make_app
from vpr.app.upload_jobs import Jobs, Limits

gradio_client = pytest.importorskip("gradio_client", reason="pip install 'vpr-torch[app]'")
uvicorn = pytest.importorskip("uvicorn")
__all__ = ["model"]  # a fixture


@pytest.fixture(scope="module")
def address(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    before, temporary = dict(os.environ), tempfile.tempdir
    folder = tmp_path_factory.mktemp("app")
    config = uvicorn.Config(make_app(Jobs(folder, model, Limits())), log_level="error")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        thread.join()
    assert any((folder / "uploads").iterdir())  # where Gradio puts uploads
    os.environ.clear()
    os.environ |= before
    tempfile.tempdir = temporary


def test_upload_result_and_downloads(address: str, tmp_path: Path) -> None:
    client = gradio_client.Client(address, verbose=False, download_files=str(tmp_path / "got"))
    frame, files = client.predict(
        gradio_client.handle_file(upload(tmp_path, "clip.mp4")), 0, api_name="/run"
    )
    page = frame.split('src="')[1].split('"')[0]
    with urlopen(address + page) as answer:
        assert "Content-Security-Policy" in answer.read().decode()
    assert {Path(path).name for path in files} >= {"clip.html", "clip.csv", "clip.json"}
    for missing in ("/jobs/x/clip.html", page.replace("clip.html", "..%2f..%2fx")):
        with pytest.raises(HTTPError, match="404"):
            urlopen(address + missing)
    (tmp_path / "x.mp4").write_text("#EXTM3U")
    with pytest.raises(Exception, match=r"not a \.mp4 file"):
        client.predict(gradio_client.handle_file(tmp_path / "x.mp4"), 0, api_name="/run")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")
def test_in_a_browser(address: str, tmp_path: Path) -> None:
    """Upload, progress, slider of the timeline, download; nothing is asked of other machines."""
    sync_api = pytest.importorskip("playwright.sync_api")
    asked: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab: Any = browser.new_page()
        tab.set_default_timeout(120_000)
        own = (address, "data:", "blob:")
        tab.on("request", lambda r: r.url.startswith(own) or asked.append(r.url))
        tab.goto(address)
        tab.set_input_files("#upload input[type=file]", upload(tmp_path, "clip.mp4"))
        tab.get_by_text("clip.mp4").wait_for()
        tab.click("#run")
        tab.locator(".progress-text, .eta-bar").first.wait_for(state="attached")
        timeline = tab.frame_locator("#timeline")
        timeline.locator("#shown").wait_for()
        if timeline.locator("#strength").is_visible():
            timeline.locator("#strength").fill("1000")
            assert " of " in timeline.locator("#shown").text_content()
        with tab.expect_download() as download:
            tab.locator("#files a").nth(1).click()
        assert Path(download.value.path()).read_text().startswith("frame,time")
        browser.close()
    assert asked == []


def test_a_port_that_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vpr.app.server.make_app", lambda jobs: None)
    with socket.create_server(("127.0.0.1", 0)) as used:
        code, _, err = vpr(capsys, "app", "--port", used.getsockname()[1], "--out", tmp_path)
    assert code == 2
    assert "choose another --port" in err
