"""docs/packages.md, from the cases."""

from __future__ import annotations

from tests.packages.collected import NAMES, package
from tests.packages.suite import Case, Package

HEADER = """# Packages that work as they stand

Functions of published packages, called unmodified from a function that is differentiated.
Gradient and `jvp` of each are compared with finite differences by `tests/packages`.
`python -m tests.packages --page > docs/packages.md` writes this page.

What is not listed may work as well: code in Python is derived, and NumPy's functions have rules.
Compiled code without a rule raises an error that names it where something active goes in.
"""


def page() -> str:
    """Return the text of the page."""
    packages = [package(name) for name in NAMES]
    works = sum(not case.refused for one in packages for case in one.cases)
    refused = sum(bool(case.refused) for one in packages for case in one.cases)
    counts = f"Right: {works}.  Refused: {refused}.  Wrong: none.\n"
    return "\n".join([HEADER, counts, *(section(one) for one in packages)])


def section(one: Package) -> str:
    """Return the part of the page about one package."""
    works = ", ".join(described(case) for case in one.cases if not case.refused)
    refused = [f"- `{case.name}`: {case.refused}" for case in one.cases if case.refused]
    parts = [f"## {one.name}", "", works, ""]
    if refused:
        parts += ["Refused:", "", *refused, ""]
    return "\n".join(parts)


def described(case: Case) -> str:
    """Return the name of a case that works."""
    return f"`{case.name}`" if case.forward else f"`{case.name}` (gradient only)"
