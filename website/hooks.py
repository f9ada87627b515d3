"""Prepare the pages, which are written for GitHub and for doctest, for MkDocs.

README.md is the front page, and two other files of the root have a page each.  Links to files that
have no page lead to the repository.
"""

from __future__ import annotations

import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
IN_REPOSITORY = {page: path for path, page in ROOT_PAGES.items()}
CODE_OR_TARGET = re.compile(
    r"^```.*?^```|`[^`\n]*`|(?<=\]\()[^)\s]+(?=\))", re.DOTALL | re.MULTILINE
)
CONSOLE = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from files of the root."""
    root = posixpath.dirname(config.config_file_path)
    for path, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, abs_src_path=f"{root}/{path}"))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at pages of the site or at the repository; mark consoles as such."""

    def linked(match: re.Match[str]) -> str:
        text = match[0]
        is_code = text.startswith("`")
        return (
            text if is_code or ":" in text else site_target(text, page.file.src_uri, config, files)
        )

    return CONSOLE.sub("```pycon\n", CODE_OR_TARGET.sub(linked, markdown))


def site_target(target: str, page: str, config: MkDocsConfig, files: Files) -> str:
    """Return where a link on a page leads, given as a path in the repository beside its source."""
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    source = IN_REPOSITORY.get(page, f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    here = ROOT_PAGES.get(path, path.removeprefix("docs/"))
    if path in ROOT_PAGES or path.startswith("docs/"):
        return posixpath.relpath(here, posixpath.dirname(page) or ".") + mark + anchor
    return f"{config.repo_url}/blob/main/{path}{mark}{anchor}"
