"""Command line: `python -m tests.packages [NAME ...]` runs the cases; `--page` prints the page."""

from __future__ import annotations

import sys

from tests.packages.collected import NAMES, package
from tests.packages.page import page

if sys.argv[1:] == ["--page"]:
    print(page(), end="")
else:
    for name in sys.argv[1:] or NAMES:
        one = package(name)
        failures = one.failures()
        print(*failures, f"{one.name}: {len(one.cases)} cases, {len(failures)} fail", sep="\n\n")
