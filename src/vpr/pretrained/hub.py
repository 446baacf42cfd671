"""Publish the model of a run on the Hugging Face Hub, with a model card."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import vpr
from vpr.config import RunConfig
from vpr.errors import VPRError
from vpr.pretrained import MODEL, PUBLISHED
from vpr.training.additions import additions_of
from vpr.training.checkpoint import RunFolder

CARD = "README.md"


class Published(NamedTuple):
    """Where a model can be loaded from."""

    repository: str  # owner/name
    commit: str
    url: str

    @property
    def pinned(self) -> str:
        """For `load_model` and the commands."""
        return f"{self.repository}@{self.commit}"


def push_to_hub(
    run: Path | str,
    repository: str,
    metrics: dict[str, float],
    *,
    licence: str = "mit",
    private: bool = False,
) -> Published:
    """Upload weights, configuration and card of a run folder in one commit.

    `metrics` are named results for the card. The token comes from `hf auth login` or HF_TOKEN.
    """
    check_repository(repository)
    folder = RunFolder(run)
    config = folder.config()
    if not (folder.path / MODEL).exists():
        raise VPRError(f"{run} has no {MODEL} yet: train it first")
    try:
        from huggingface_hub import CommitOperationAdd, HfApi
    except ImportError:
        raise VPRError("publishing needs the hub: pip install 'vpr-torch[hub]'") from None
    found = [folder.path / name for name in PUBLISHED if (folder.path / name).exists()]
    content = {path.name: path.read_bytes() for path in found}
    content[CARD] = model_card(config, repository, metrics, licence).encode()
    operations = [CommitOperationAdd(name, data) for name, data in content.items()]
    api = HfApi(library_name="vpr-torch", library_version=vpr.__version__)
    try:
        url = api.create_repo(repository, private=private, exist_ok=True)
        commit = api.create_commit(
            url.repo_id, operations, commit_message=f"{config.preset}, seed {config.seed}"
        )
    except Exception as error:  # the client of the hub raises many different types
        reason = " ".join(str(error).split())
        raise VPRError(f"cannot publish {repository}: {reason or type(error).__name__}") from error
    return Published(url.repo_id, commit.oid, str(url))


def check_repository(name: str) -> None:
    """Raise an error unless it is a name of the form owner/name."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise VPRError(f"{name} is not the name of a repository: give OWNER/NAME")


def model_card(config: RunConfig, repository: str, metrics: dict[str, float], licence: str) -> str:
    """The README of the repository: data, recipe, metrics, licence and how to load the model."""
    from huggingface_hub import ModelCardData

    header = ModelCardData(
        license=licence,
        library_name="vpr-torch",
        tags=["event-segmentation", "video", "variational-predictive-routing"],
    ).to_yaml()
    return "\n".join(
        ["---", header.strip(), "---", "", *_body(config, repository, metrics, licence)]
    )


def _body(config: RunConfig, repository: str, metrics: dict[str, float], licence: str) -> list[str]:
    name = repository.rpartition("/")[2]
    model, training = config.model, config.training
    added = ", ".join(each.name for each in additions_of(config)) or "none"
    return [
        f"# {name}",
        "",
        "Variational Predictive Routing: finds the events in a video at several timescales, "
        "without labels, online.",
        "",
        "```python",
        "import vpr",
        "",
        f'model = vpr.VPR.from_pretrained("{repository}")  # or "{repository}@COMMIT"',
        "```",
        "",
        "## Data",
        "",
        *_table(_options(config.data)),
        "",
        "## Model",
        "",
        *_table(_options(model)),
        "",
        "## Recipe",
        "",
        f"Preset `{config.preset}`, seed {config.seed}: {training.steps:,} steps of "
        f"{training.batch_size} sequences of {training.length} frames, published with vpr "
        f"{vpr.__version__}. Additions to the paper's training: {added}.",
        "",
        *_table(
            {stage.name: f"{stage.share * training.steps:,.0f} steps" for stage in config.stages}
        ),
        "",
        "## Metrics",
        "",
        *(
            _table({key: f"{value:.4g}" for key, value in metrics.items()})
            if metrics
            else ["None."]
        ),
        "",
        "## Licence",
        "",
        f"`{licence}`. The data is under the licence of its source.",
        "",
    ]


def _options(config: Any) -> dict[str, Any]:
    """The fields of a configuration; not the folders of this machine."""
    kept = {
        field.name: getattr(config, field.name)
        for field in fields(config)
        if field.name not in ("path", "cache")
    }
    return {"name": config.name} | kept if hasattr(config, "name") else kept


def _table(rows: dict[str, Any]) -> list[str]:
    cells = [f"| {key.replace('_', ' ')} | {value} |" for key, value in rows.items()]
    return ["| | |", "|---|---|", *cells]
