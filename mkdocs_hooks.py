"""mkdocs hooks: pages outside docs/ become part of the site, and links to them keep working.

The Markdown files link to each other by their paths in the repository, so that the links work on
a Git server as well. `docs/` is the root of the site; the files of `OUTSIDE` are added to it.
"""

import os
import re
from glob import glob
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "results/README.md",
    "results/footage/README.md",
    "results/*/*.png",
)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of `OUTSIDE`."""
    root = os.path.dirname(config.config_file_path)
    for pattern in OUTSIDE:
        for path in sorted(glob(pattern, root_dir=root)):
            file = File.generated(config, path, abs_src_path=os.path.join(root, path))
            files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Translate links between repository paths to links between site paths."""
    here = page.file.src_uri
    source = here if page.file.generated_by else f"docs/{here}"

    def translate(match: re.Match[str]) -> str:
        link, anchor = match[1], match[2] or ""
        if ":" in link:  # https://…
            return match[0]
        target = os.path.normpath(os.path.join(os.path.dirname(source), link))
        site = "index.md" if target == "README.md" else target.removeprefix("docs/")
        return f"]({os.path.relpath(site, os.path.dirname(here) or '.')}{anchor})"

    return LINK.sub(translate, markdown)
