"""Rules whose pullbacks may raise are known by their code."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from mooncake_py import not_implemented
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import VjpRule
from mooncake_py.rules.refusing import may_raise, reached_from, refuses

A = np.array([[2.0, 1.0], [1.0, 3.0]])
LATER = not_implemented("later")


def pullback_of(f: Any, *args: Any) -> tuple[VjpRule, Any]:
    rule = registry.find(f)
    assert isinstance(rule, VjpRule)
    return rule, rule.rule(*args)[1]


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (np.linalg.eigh, (A,), True),
        (np.linalg.eigvalsh, (A,), True),  # by a function that has a rule
        (np.linalg.qr, (A,), True),
        (np.linalg.svd, (A,), True),
        (np.linalg.norm, (A, 2), True),
        (np.linalg.norm, (A,), False),
        (np.linalg.det, (A,), False),
        (np.sort, (A,), False),
        (np.cumprod, (A,), False),
    ],
)
def test_rules_of_this_package(f, args, expected):
    assert may_raise(*pullback_of(f, *args)) is expected
    assert may_raise(*pullback_of(f, *args)) is expected  # from the second call on it is known


def test_code_that_refuses():
    def raises(x):
        raise ValueError(x)

    def marks(x):
        return LATER if x else 0.0

    def defines():
        def inner():
            raise ValueError

        return inner

    def neither(x):
        return not_implemented

    assert refuses(raises)
    assert refuses(marks)
    assert refuses(defines)
    assert not refuses(neither)


def test_functions_of_this_package_are_followed():
    _, pullback = pullback_of(np.linalg.eigvalsh, A)
    names = [f.__name__ for f in reached_from(functools.partial(pullback))]
    assert names[0] == "eigvalsh_pullback"
    assert {"vectors_of_values", "vectors_of_values_rule"} <= set(names)
    assert reached_from(pytest.raises) == []  # of another package
    assert reached_from(None) == []
