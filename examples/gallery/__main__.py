"""Regenerate pictures and outputs in docs/gallery.md: `python -m examples.gallery [NAME ...]`."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "gallery.md"
SHARED = {"common", "__main__"}
EXTRAS = {"pollution_posterior": "pymc", "wall_network": "torch"}
"""Packages that a script needs beyond those of the extra `examples`."""
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in SHARED)


def run(name: str, picture: Path) -> str:
    """Run a script, and return what it prints, without the path of the picture."""
    command = [sys.executable, str(HERE / f"{name}.py"), str(picture)]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.sub(r"^picture saved as .*\n", "", text, flags=re.MULTILINE)


def with_output(page: str, name: str, output: str) -> str:
    """Return the page with another output in the block after the marker of a script."""
    block = rf"(<!-- output: {name} -->\n```text\n).*?(```\n)"
    page, found = re.subn(block, lambda m: m[1] + output + m[2], page, flags=re.DOTALL)
    if found != 1:
        raise ValueError(f"docs/gallery.md has {found} blocks marked 'output: {name}', not one")
    return page


def main(names: list[str]) -> None:
    """Run the scripts of these names, or all, and put into the page what they print."""
    for name in names or NAMES:
        if name in EXTRAS and not find_spec(EXTRAS[name]):
            print(f"{name} left out: {EXTRAS[name]} is not installed\n")
            continue
        output = run(name, DOCS / "gallery" / f"{name}.png")
        print(f"{name}\n{output}", flush=True)
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_output(page, name, output), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
