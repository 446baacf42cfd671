"""The page of `vpr app`, made with Gradio; works without a network."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from vpr.app.upload_jobs import CACHE, FILE_SIGNATURES, Jobs
from vpr.errors import VPRError

CSS = "#timeline { width: 100%; height: 85vh; border: 0; }"
TITLE = "vpr: find the events in a video"


def make_app(jobs: Jobs) -> Any:
    """The FastAPI application. Everything it writes is in the folder of `jobs`."""
    _use_folder(jobs.folder)
    try:
        import gradio
    except ImportError:
        raise VPRError("vpr app needs Gradio: pip install 'vpr-torch[app]'") from None
    from fastapi import FastAPI
    from fastapi.responses import FileResponse, PlainTextResponse

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    def file(job: str, name: str) -> Any:
        found = jobs.file(job, name)
        if found is None:
            return PlainTextResponse("There is no such file.", 404)
        return FileResponse(found)

    app.get("/jobs/{job}/{name}")(file)
    size = f"{jobs.limits.megabytes}mb"
    # The default theme loads fonts from the network.
    theme = gradio.themes.Base(font=["sans-serif"], font_mono=["monospace"])
    return gradio.mount_gradio_app(
        app,
        _page(gradio, jobs),
        path="/",
        allowed_paths=[str(jobs.folder)],  # the names of jobs cannot be guessed
        max_file_size=size,
        theme=theme,
        css=CSS,
        ssr_mode=False,
        footer_links=["gradio"],
        run_history=False,
    )


def _use_folder(folder: Path) -> None:
    """Let all libraries write into this folder only, and send nothing."""
    os.environ |= {
        "GRADIO_TEMP_DIR": str(folder / "uploads"),
        "XDG_CACHE_HOME": str(folder / CACHE),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1",
    }
    temporary = folder / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(temporary)


def _page(gradio: Any, jobs: Jobs) -> Any:
    needs_training = jobs.model is None

    def run(upload: str | None, seconds: float, progress: Any = gradio.Progress()) -> Any:  # noqa: B008
        if upload is None:
            raise gradio.Error("Choose a video first.")
        try:
            job, files = jobs.run(
                Path(upload), seconds, lambda what, done, of: progress((done, of), desc=what)
            )
        except VPRError as error:
            raise gradio.Error(str(error), duration=None) from error
        frame = f'<iframe id="timeline" src="/jobs/{job}/{files[0].name}"></iframe>'
        return frame, [str(path) for path in files]

    with gradio.Blocks(title=TITLE, analytics_enabled=False, delete_cache=(3600, 3600)) as page:
        limits = f"{jobs.limits.megabytes} MB and {jobs.limits.minutes:g} minutes of computing"
        model = (
            "A model is trained on the video first."
            if needs_training
            else "The model of this server can be trained on the video first."
        )
        gradio.Markdown(f"# {TITLE}\n{model} The limits are {limits}.")
        upload = gradio.File(label="Video", file_types=sorted(FILE_SIGNATURES), elem_id="upload")
        seconds = gradio.Slider(
            10 if needs_training else 0,
            60 * jobs.limits.minutes / 2,
            120 if needs_training else 0,
            step=10,
            label="Seconds of training on this video",
        )
        button = gradio.Button("Find events", variant="primary", elem_id="run")
        timeline = gradio.HTML()
        files = gradio.File(label="Results", file_count="multiple", elem_id="files")
        button.click(
            run,
            [upload, seconds],
            [timeline, files],
            concurrency_limit=1,
            show_progress_on=timeline,
        )
    return page.queue(max_size=8)
