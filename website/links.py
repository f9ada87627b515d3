"""Check the links of the built site: ``python -m website.links site``.

MkDocs checks those that pages write.  This also checks those that the theme and docstrings add, and
links to files of the repository; and that no page loads anything from elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

ROOT = Path(__file__).parents[1]
SITE = "https://mooncake-py.github.io/mooncake_py/"
FILES = "https://github.com/mooncake-py/mooncake_py/blob/main/"
FETCHED_RELATIONS = {"stylesheet", "icon", "preload", "preconnect"}


@dataclass
class Document(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one element links to, loads and is called."""
        values = {name: value for name, value in attrs if value is not None}
        if "id" in values:
            self.anchors.add(values["id"])
        if "src" in values:
            self.loaded.append(values["src"])
        if "href" in values:
            is_fetched = tag == "link" and FETCHED_RELATIONS & set(values.get("rel", "").split())
            (self.loaded if is_fetched else self.links).append(values["href"])


def read(site: Path) -> dict[str, Document]:
    """Return the pages of the site, by address."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        document = pages[address_of(path, site)] = Document()
        document.feed(path.read_text(encoding="utf-8"))
    return pages


def address_of(path: Path, site: Path) -> str:
    """Return the address under which a file is published."""
    return SITE + path.relative_to(site).as_posix().removesuffix("index.html")


def defects(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere."""
    pages = read(site)
    files = {address_of(path, site) for path in site.rglob("*") if path.is_file()}
    anchors = {page: document.anchors for page, document in pages.items()}
    for page, document in pages.items():
        for link in document.links + document.loaded:
            target, _, anchor = urljoin(page, link).partition("#")
            target, anchor = unquote(target), unquote(anchor)
            if target.startswith(FILES):
                found = (ROOT / target.removeprefix(FILES)).exists()
            elif target.startswith(SITE):
                found = target in files and (not anchor or anchor in anchors.get(target, ()))
            else:
                found = link not in document.loaded and urlsplit(target).scheme in {
                    "https",
                    "mailto",
                }
            if not found:
                yield f"{page.removeprefix(SITE) or 'index'}: {link}"


def main(site: str) -> int:
    """Print the defects of a built site; return how many there are, at most one."""
    found = sorted(set(defects(Path(site))))
    print("\n".join(found) or "all links lead somewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
