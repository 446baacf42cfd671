"""Publishing on a hub and loading from it, with a local server that speaks the hub's protocol."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from tests.cli.test_cli import vpr
from tests.conftest import tiny_run
from vpr import VPR, VPRError
from vpr.pretrained.hub import model_card, push_to_hub
from vpr.training.loop import train

pytest.importorskip("huggingface_hub")
NAME = "somebody/a-model"
Commits = dict[str, dict[str, bytes]]  # commit → files


class Hub(BaseHTTPRequestHandler):
    """The requests of `create_repo`, `create_commit` and `snapshot_download`."""

    commits: Commits
    refuse = False

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        home = f"http://{self.headers['Host']}/{NAME}"
        if self.refuse:
            self.answer({"error": "Invalid username or password."}, 401)
        elif self.path == "/api/repos/create":
            self.answer({"url": home, "id": NAME})
        elif self.path == "/api/validate-yaml":
            self.answer({"errors": [], "warnings": []})
        elif self.path == f"/api/models/{NAME}/preupload/main":
            files = json.loads(body)["files"]
            modes = {"uploadMode": "regular", "shouldIgnore": False}
            self.answer({"files": [{"path": file["path"]} | modes for file in files]})
        elif self.path == f"/api/models/{NAME}/commit/main":
            lines = [json.loads(line) for line in body.splitlines()]
            files = [line["value"] for line in lines if line["key"] == "file"]
            commit = hashlib.sha1(body).hexdigest()
            self.commits[commit] = {f["path"]: base64.b64decode(f["content"]) for f in files}
            self.answer({"commitUrl": f"{home}/commit/{commit}", "commitOid": commit})
        else:
            self.answer({"error": "unknown"}, 404)

    def do_GET(self) -> None:
        path, _, _ = self.path.partition("?")
        _, kind, *words = path.split("/")
        if kind == "api":  # /api/models/somebody/a-model/revision/REVISION
            commit = self.commit(words[4] if len(words) > 4 else "main")
            if commit is None and len(words) == 3:
                return self.answer({"id": NAME, "modelId": NAME, "siblings": []})  # empty
            if commit is None:
                return self.answer({"error": "Revision Not Found"}, 404)
            if words[3] == "tree":
                listed = self.commits[commit].items()
                entries = [
                    {"type": "file", "path": name, "size": len(data), "oid": commit}
                    for name, data in listed
                ]
                return self.answer(entries)
            files = [{"rfilename": name} for name in self.commits[commit]]
            return self.answer({"id": NAME, "modelId": NAME, "sha": commit, "siblings": files})
        commit, name = self.commit(words[2]), words[3]  # /somebody/a-model/resolve/COMMIT/FILE
        if commit is None or name not in self.commits[commit]:
            return self.answer({"error": "Entry Not Found"}, 404)
        self.send(self.commits[commit][name], {"X-Repo-Commit": commit})

    do_HEAD = do_GET  # noqa: N815

    def commit(self, revision: str) -> str | None:
        """The commit of a revision; `main` is the last."""
        known = list(self.commits)
        return (
            known[-1] if revision == "main" and known else revision if revision in known else None
        )

    def answer(self, data: object, status: int = 200) -> None:
        self.send(json.dumps(data).encode(), {"Content-Type": "application/json"}, status)

    def send(self, data: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        etag = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "Content-Length": str(len(data))}
        for key, value in (headers | etag).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *words: object) -> None:
        """Nothing."""


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Commits]:
    """The commits of a hub at an address of this machine, which huggingface_hub uses."""
    from huggingface_hub import constants

    handler = type("Handler", (Hub,), {"commits": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_made_up")
    yield handler.commits  # type: ignore[attr-defined]
    server.shutdown()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "run"
    train(tiny_run(3), folder)
    return folder


def test_publish_load_and_pin(run: Path, commits: Commits, tmp_path: Path) -> None:
    first = push_to_hub(run, NAME, {"elbo": -1.5})
    assert first.repository == NAME
    assert list(commits) == [first.commit]
    files = commits[first.commit]
    assert files.keys() == {"config.json", "model.safetensors", "README.md"}
    assert files["model.safetensors"] == (run / "model.safetensors").read_bytes()
    train(tiny_run(4), tmp_path / "other")
    second = push_to_hub(tmp_path / "other", NAME, {})
    published = VPR.from_pretrained(NAME).state_dict()
    pinned = VPR.from_pretrained(first.pinned).state_dict()
    for folder, loaded in ((run, pinned), (tmp_path / "other", published)):
        ours = VPR.from_pretrained(str(folder)).state_dict()
        assert all(torch.equal(ours[name], loaded[name]) for name in ours)
    assert second.commit != first.commit
    with pytest.raises(VPRError, match=f"{NAME}@{'0' * 40}"):
        VPR.from_pretrained(f"{NAME}@{'0' * 40}")


def test_the_command(run: Path, commits: Commits, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = vpr(
        capsys, "push", run, NAME, "--sequences", 2, "--licence", "cc0-1.0", "--json"
    )
    assert code == 0
    said = json.loads(out)
    assert said["pinned"] == f"{NAME}@{next(iter(commits))}"
    card = commits[said["commit"]]["README.md"].decode()
    assert "license: cc0-1.0\n" in card
    assert f"| elbo | {said['metrics']['elbo']:.4g} |" in card


def test_the_card() -> None:
    card = model_card(tiny_run(3), NAME, {"f1": 0.25}, "mit")
    for words in ("license: mit", "## Data", "moving-ball", "| f1 | 0.25 |", "3 steps of 3"):
        assert words in card
    assert "path" not in card


def test_what_the_hub_refuses_is_one_line(
    run: Path, commits: Commits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "refuse", True)
    with pytest.raises(VPRError, match=f"cannot publish {NAME}") as found:
        push_to_hub(run, NAME, {})
    assert "\n" not in str(found.value)
    with pytest.raises(VPRError, match="is not a run folder"):
        push_to_hub(tmp_path, NAME, {})
