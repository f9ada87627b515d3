"""Results within derivatives are those of the plain call: types, bits, strides, shared memory."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tests.rules.cases
from tests.packages.collected import NAMES, package
from tests.rules.cases import Case
from tests.rules.cases.scipy import PARTS
from tests.support.plain_results import differences, in_layouts

pytestmark = pytest.mark.without_modes("compares with plain calls")

INEXACT = {
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-bsr-vector-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-bsr-vectors-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-csr-matrices-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-matrices-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-vector-complex",
    "scipy.sparse: tests.rules.cases.scipy.sparse.by-dia-vectors-complex",
    "scipy.sparse_linalg: tests.rules.cases.scipy.sparse_linalg.by_exponential-f64(7)",
    "scipy.sparse_linalg: tests.rules.cases.scipy.sparse_linalg.by_triangle-complex",
}
"""Cases whose last digits may be others: the functions that docs/scipy.md lists."""

APART = {"shares_memory", "may_share_memory"}
"""Functions of arguments that share memory, which are separate variables in a derivative."""


def modules() -> Iterator[tuple[str, Any]]:
    """Yield the families of rules, by name, with the modules of their cases."""
    for found in pkgutil.iter_modules(tests.rules.cases.__path__):
        if found.name != "scipy":
            yield found.name, import_module(f"tests.rules.cases.{found.name}")
    for part in PARTS:
        yield f"scipy.{part}", import_module(f"tests.rules.cases.scipy.{part}")


FAMILIES = {name: module.cases() for name, module in modules() if hasattr(module, "cases")}
CASES = [(name, case) for name, cases in FAMILIES.items() for case in cases]


def problems(name: str, case: Case, every_layout: bool) -> list[str]:
    """Return how results of a case differ from those of the plain call."""
    title = f"{name}: {case.id}"
    if title in INEXACT or getattr(case.function, "__name__", "") in APART:
        return []
    return [
        f"{title}, {text}" for text in found(case.function, case.args, case.kwargs, every_layout)
    ]


def found(f: Any, args: Any, kwargs: Any, every_layout: bool = True) -> Iterator[str]:
    for label, changed in in_layouts(args):
        for text in differences(f, changed, kwargs):
            yield f"{label}, {text}"
        if not every_layout:
            return


def test_some_cases() -> None:
    some = [problem for name, case in CASES[7::200] for problem in problems(name, case, False)]
    assert not some, "\n".join(some)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_all_cases_of_rules(name: str) -> None:
    wrong = [problem for case in FAMILIES[name] for problem in problems(name, case, True)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_functions_of_packages(name: str) -> None:
    wrong = [
        f"{case}, {text}"
        for case in package(name).cases
        if not case.refused
        for text in found(case.function, case.arguments, {})
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_inexact_ones_are_inexact() -> None:
    titles = {f"{name}: {case.id}": case for name, case in CASES}
    assert titles.keys() >= INEXACT
    for title in INEXACT:
        case = titles[title]
        assert list(found(case.function, case.args, case.kwargs)), f"{title} has become exact"


# What the comparison finds.


def test_the_comparison_finds_differences() -> None:
    x = np.arange(6.0).reshape(2, 3) / 7 + 0.3
    calls: list[int] = []

    def unsteady(kinds: Any) -> Any:
        def f(x: Any) -> Any:
            calls.append(1)
            return kinds[min(len(calls), 2) - 1](x)

        return f

    for texts, *kinds in [
        ("bits", lambda x: x + 0.0, lambda x: x + 1e-15),
        ("type", lambda x: np.float64(x[0, 0]) * 1.0, lambda x: x[0, :1] * 1.0),
        ("strides", lambda x: x * 1.0, lambda x: np.asfortranarray(x * 1.0)),
        ("shares", lambda x: x.T, lambda x: x.T.copy("K")),
        ("may be written", lambda x: np.diagonal(x), lambda x: x.reshape(-1)[::4]),
        ("random state", lambda x: x * 1.0, lambda x: x * np.random.random() ** 0.0),  # noqa: NPY002
    ]:
        calls.clear()
        messages = list(differences(unsteady(kinds), (x,), {}))
        assert any(texts in message for message in messages), (texts, messages)
