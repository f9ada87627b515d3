"""The page docs/coverage.md, made from the rules that are registered and the cases that run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from tests.coverage.classification import DERIVED, NONE, REFUSED, RULE, UNKNOWN, Entry, entries

__all__ = ["header", "page"]

INTRODUCTION = """\
This page lists the derivative of every public name of NumPy.
`python -m tests.coverage` prints this page, and a test compares both.

- **By a rule**: the derivative is declared, and `test_rule` checks it.
- **Derived from source**: the engine differentiates NumPy's code, and `test_rule` checks it.
- **No derivative**: integers, shapes, step functions and predicates; the function runs natively.
- **Refused where active**: an active argument raises an error that says why; on constants the
  function runs natively.

Arguments such as `axis`, `out`, `where`, `initial`, `dtype` and `keepdims` work as in NumPy.
`numpy.char` and `numpy.strings` work on text; `numpy.rec` has record arrays, which are refused.\
"""


def header() -> str:
    """Return the line that names the version of NumPy."""
    return f"*For NumPy {'.'.join(np.__version__.split('.')[:2])}.*"


def page() -> str:
    """Return the whole page."""
    return "\n".join(["# Coverage of NumPy", "", header(), "", INTRODUCTION, "", *sections()])


def sections() -> Iterator[str]:
    """Yield the lines of a section for each module or class."""
    for section, found in groupby(entries(), key=lambda entry: entry.section):
        members = list(found)
        yield f"## {section}"
        yield ""
        for status in (RULE, DERIVED):
            yield from listed(status, [e.name for e in members if e.status == status])
        for status in (NONE, REFUSED, UNKNOWN):
            yield from by_reason(status, [e for e in members if e.status == status])


def listed(title: str, names: list[str]) -> Iterator[str]:
    """Yield a paragraph that lists names."""
    if names:
        yield f"**{title}:** {', '.join(f'`{name}`' for name in names)}."
        yield ""


def by_reason(status: str, members: list[Entry]) -> Iterator[str]:
    """Yield a paragraph for each reason."""
    order = sorted(members, key=lambda entry: entry.because)
    for because, found in groupby(order, key=lambda entry: entry.because):
        yield from listed(f"{status} ({because})", [entry.name for entry in found])
