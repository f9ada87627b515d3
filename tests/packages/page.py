"""docs/packages.md, from the cases."""

from __future__ import annotations

from tests.packages.collected import NAMES, package
from tests.packages.suite import Case, Package

HEADER = """# Packages that work unmodified

These functions of published packages work unmodified inside differentiated functions.
`tests/packages` compares the gradient and `jvp` of each with finite differences.
`python -m tests.packages --page > docs/packages.md` writes this page.

Other functions may work too: the engine derives Python code, and NumPy's functions have rules.
Compiled code without a rule raises an error that names it, if an argument is active.
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
