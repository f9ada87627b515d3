"""Look at the built site in a browser: ``python -m website.look site [PAGE ...]``.

Each page is opened wide and narrow.  It must fit the window: tables and code scroll by themselves,
pages never do.  All that it loads must be there, from the site itself, without an error of a
script; and the search must find something.
"""

from __future__ import annotations

import argparse
import base64
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from website.browser import Tab, browser, executable

WIDTHS = (1400, 390)
HEIGHT = 900
SCHEMES = ("light", "dark")

# What stands out of the window, the innermost first, with the page itself as the last resort.
TOO_WIDE = """(() => {
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return []
    const out = [...document.querySelectorAll("article *")].filter(e =>
        e.getBoundingClientRect().right > width + 1 && !e.closest("pre, .md-typeset__scrollwrap"))
    return ["the page", ...out.map(e => e.tagName + " " + e.textContent.slice(0, 60))].slice(-3)
})()"""

MISSING_PICTURES = """Promise.all([...document.images].map(i => (i.loading = "eager", i.decode())
    .then(() => [], () => [i.src]))).then(lists => lists.flat())"""

SETTLED = "new Promise(resolve => setTimeout(resolve, 500))"

SEARCH = """new Promise(resolve => {
    const field = document.querySelector(".md-search__input")
    field.focus()
    field.value = "checkpointed"
    const look = setInterval(() => {
        field.dispatchEvent(new Event("keyup"))
        const found = document.querySelectorAll(".md-search-result__link").length
        if (found) { clearInterval(look); resolve(found) }
    }, 100)
    setTimeout(() => { clearInterval(look); resolve(0) }, 20000)
})"""


class Handler(SimpleHTTPRequestHandler):
    """Answers requests for the site, and logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Do not print requests."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Publish a folder on this machine; yield the address."""
    handler = partial(Handler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def defects(tab: Tab, home: str, page: str) -> Iterator[str]:
    """Yield the defects of a page, at each width."""
    tab.resize(WIDTHS[0], HEIGHT)
    tab.open(home + page)
    for width in WIDTHS:
        tab.resize(width, HEIGHT)
        for element in tab.evaluate(TOO_WIDE):
            yield f"does not fit {width} pixels: {element}"
    for picture in tab.evaluate(MISSING_PICTURES):
        yield f"has a picture that cannot be shown: {picture}"
    for event in tab.events:
        yield from reported(event, home)


def reported(event: dict[str, Any], home: str) -> Iterator[str]:
    """Yield the errors in an event of the browser."""
    match event:
        case {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}:
            if not url.startswith((home, "data:", "blob:")):
                yield f"asks another host: {url}"
        case {"method": "Runtime.exceptionThrown", "params": {"exceptionDetails": details}}:
            yield f"has an error in a script: {details['text']}"
        case {"method": "Log.entryAdded", "params": {"entry": {"level": "error"} as entry}}:
            yield f"has an error: {entry['text']} {entry.get('url', '')}"
        case _:
            pass


def take_pictures(tab: Tab, home: str, page: str, folder: Path) -> None:
    """Save the whole page at each width, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        tab.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        tab.open(home + page)
        for width in WIDTHS:
            tab.resize(width, HEIGHT)
            tab.evaluate(SETTLED)
            shot = tab.send("Page.captureScreenshot", captureBeyondViewport=True)
            name = f"{page.strip('/').replace('/', '-') or 'index'}-{width}-{scheme}.png"
            (folder / name).write_bytes(base64.b64decode(shot["data"]))


def main() -> int:
    """Print what is wrong with the site; return 1 if there is something."""
    parser = argparse.ArgumentParser(prog="python -m website.look", description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="save pictures there")
    parser.add_argument("pages", nargs="*", help="such as quick_start/; without them, all")
    options = parser.parse_args()
    path = executable()
    if path is None:
        parser.error("there is no Chromium")
    site: Path = options.site
    files = sorted(site.rglob("index.html"))
    pages = options.pages or [f.parent.relative_to(site).as_posix() + "/" for f in files]
    if not files:
        parser.error(f"there are no pages in {site}")
    count = 0
    with served(site) as home, browser(path) as tab:
        for page in pages:
            for defect in defects(tab, home, page.removeprefix("./")):
                count += 1
                print(f"{page} {defect}")
            if options.pictures:
                take_pictures(tab, home, page.removeprefix("./"), options.pictures)
        tab.open(home)
        if not tab.evaluate(SEARCH):
            count += 1
            print("the search finds nothing")
    print(f"{len(pages)} pages, {count} defects")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
