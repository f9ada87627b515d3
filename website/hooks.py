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
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    return for_site(markdown, page.file.src_uri, config.repo_url or "")


def for_site(markdown: str, page: str, repository: str) -> str:
    """Return the text of a page as MkDocs takes it."""

    def linked(match: re.Match[str]) -> str:
        text = match[0]
        is_kept = text[0] in "`#" or ":" in text
        return text if is_kept else target_of(text, page, repository)

    return CONSOLE.sub("```pycon\n", CODE_OR_TARGET.sub(linked, markdown))


def target_of(link: str, page: str, repository: str) -> str:
    """Return the target of a link that is a path in the repository, relative to a page's source."""
    path, mark, anchor = link.partition("#")
    source = IN_REPOSITORY.get(page, f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if path in ROOT_PAGES or path.startswith("docs/"):
        path = ROOT_PAGES.get(path, path.removeprefix("docs/"))
        path = posixpath.relpath(path, posixpath.dirname(page) or ".")
    else:
        path = f"{repository}/blob/main/{path}"
    return path + mark + anchor
