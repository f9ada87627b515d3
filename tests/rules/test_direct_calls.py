"""What overlays call directly, where the arguments fit it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mooncake_py.compiler.slices.calls.arguments import Arguments, Hole, Literal
from mooncake_py.compiler.slices.calls.operations import takes
from mooncake_py.rules import registry
from mooncake_py.rules.kinds import OverlayRule

X = np.array([0.3, -0.5, 0.7, 0.1])
CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (np.clip, (X, -0.2, 0.4), {}),
    (np.clip, (X, None, 0.4), {}),
    (np.diff, (X, 2), {}),
    (np.diff, (X,), {"axis": 0}),
    (np.einsum, ("i,i->", X, X), {}),
    (np.interp, (X, np.arange(4.0), X), {}),
    (np.interp, (X, np.arange(4.0), X, 0.0), {"right": 2.0}),
    (np.array, ([X, 2.0 * X],), {}),
    (np.gradient, (X, 0.5), {"edge_order": 2}),
    (np.trapezoid, (X,), {"dx": 0.5}),
]


def direct_of(f: Any) -> Any:
    rule = registry.find(f)
    assert isinstance(rule, OverlayRule)
    return rule.direct


@pytest.mark.parametrize(("f", "args", "kwargs"), CALLS)
def test_values_are_those_of_the_function(f, args, kwargs):
    assert_array_equal(direct_of(f)(*args, **kwargs), f(*args, **kwargs))


def arguments(count: int, *names: str, first: Any = None) -> Arguments:
    positional: list[Any] = [Hole(k) for k in range(count)]
    if first is not None:
        positional[0] = Literal(first)
    return Arguments(tuple(positional), tuple([(name, Literal(1)) for name in names]))


@pytest.mark.parametrize(
    ("f", "given", "expected"),
    [
        (np.clip, arguments(3), True),
        (np.clip, arguments(1, "a_min", "a_max"), False),
        (np.clip, arguments(1), False),
        (np.diff, arguments(1, "n"), True),
        (np.diff, arguments(1, "prepend"), False),
        (np.einsum, arguments(3, first="i,i->"), True),
        (np.einsum, arguments(2, first="ii->"), False),
        (np.einsum, arguments(4), False),
        (np.interp, arguments(3), True),
        (np.interp, arguments(3, "period"), False),
        (np.gradient, arguments(3), False),
        (np.trapezoid, arguments(2, "axis"), True),
    ],
)
def test_which_arguments_fit(f, given, expected):
    assert takes(direct_of(f), given) is expected
