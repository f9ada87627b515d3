"""The rules of all families, checked by `test_rule` at all their cases, function by function.

The first case of a function goes through the variants of its arguments: layouts, shapes, dtypes,
shared memory.  The others show other branches of the rule, and those that repeat a call go through
the variants only in `test_variants_of_repeated_calls`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest

from mooncake_py.rules.kinds import function_name
from tests.rules import cases as families
from tests.rules.cases import Case, repeated

PREFIX = f"{families.__name__}."
FAMILIES = [
    m.name.removeprefix(PREFIX)
    for m in walk_packages(families.__path__, PREFIX)
    if not m.name.endswith(".scipy") and (".scipy." not in m.name or find_spec("scipy"))
]
POLES = ("scipy.", "elementwise", "math_functions", "nondifferentiable", "operators")
"""Families of which some points are poles."""


def cases_of(family: str) -> list[Case]:
    module = import_module(PREFIX + family)
    return module.cases() if hasattr(module, "cases") else []


def quiet(family: str) -> AbstractContextManager[Any]:
    return np.errstate(all="ignore") if family.startswith(POLES) else nullcontext()


def functions() -> Iterator[tuple[str, list[Case]]]:
    """Yield the cases of each function, with the name of its family."""
    for family in FAMILIES:
        found = cases_of(family)
        for case, options in repeated(found):
            case.options = {**options, **case.options}
        by_name: dict[str, list[Case]] = {}
        for case in found:
            by_name.setdefault(function_name(case.function), []).append(case)
        yield from ((family, group) for group in by_name.values())


ALL = [*functions()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("family", "case"), [pytest.param(f, group[0], id=f"{f}-{group[0].id}") for f, group in ALL]
)
def test_the_first_case_of_a_function(family: str, case: Case) -> None:
    with quiet(family):
        case.check()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "cases"),
    [
        pytest.param(f, group[1:], id=f"{f}-{function_name(group[0].function)}")
        for f, group in ALL
        if len(group) > 1
    ],
)
def test_the_other_cases_of_a_function(family: str, cases: list[Case]) -> None:
    for case in cases:
        with quiet(family):
            try:
                case.check()
            except Exception as error:
                error.add_note(f"case {case.id}")
                raise


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_variants_of_repeated_calls(family: str) -> None:
    with quiet(family):
        for case, options in repeated(cases_of(family)):
            if any(case.options.get(option, True) for option in options):
                case.check()
