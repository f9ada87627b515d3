"""Values of many kinds that an inner derivative returns keep their derivative, or are refused."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, grad, jvp
from tests.support.carriers import CARRIERS, read_from
from tests.support.pairs import rotating

X = np.array([2.0, 3.0])
REFUSED = {
    "record", "class", "instance", "instance of a derived class", "class with a metaclass",
    "class by type", "class that is changed", "default of one", "module", "member of an enum",
    "method of an instance", "property", "staticmethod", "classmethod", "methodcaller", "cell",
}  # fmt: skip
NOT_COPIED = {"record", "methodcaller", "cell"}
UNFOLLOWED = {"super"}  # of an object that the inner function has changed


def auxiliary(make: Any, v: Any) -> Any:
    return grad(lambda z: (z * z, make(v)), has_aux=True)(1.0)[1]


def by_forward_mode(make: Any, v: Any) -> Any:
    return grad(lambda z: (z * z, make(v)), has_aux=True, mode="forward")(1.0)[1]


def passed_through(make: Any, v: Any) -> Any:
    made = make(v)
    return grad(lambda z: (z * z, made), has_aux=True)(1.0)[1]


@pytest.mark.parametrize(
    ("name", "way"), rotating(sorted(set(CARRIERS) - UNFOLLOWED), [by_forward_mode, passed_through])
)
def test_other_ways_out(name: str, way: Any) -> None:
    f = read_from(name, way)
    if name in REFUSED:
        with pytest.raises(DerivativeDropError, match="holds active values leaves"):
            grad(f)(X)
    else:
        np.testing.assert_allclose(grad(f)(X), [12.0, 4.0])


@pytest.mark.parametrize("name", sorted(set(CARRIERS) - UNFOLLOWED))
def test_what_an_inner_derivative_returns(name: str) -> None:
    f = read_from(name, auxiliary)
    if name in REFUSED:
        for run in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
            with pytest.raises(DerivativeDropError, match="holds active values leaves"):
                run()
    else:
        np.testing.assert_allclose(grad(f)(X), [12.0, 4.0])
        value, tangent = jvp(f, (X,), (np.array([1.0, 0.5]),))
        np.testing.assert_allclose([value, tangent], [12.0, 14.0])


@pytest.mark.parametrize("name", sorted(set(CARRIERS) - UNFOLLOWED - NOT_COPIED))
def test_what_a_derivative_returns_is_plain(name: str) -> None:
    make, read = CARRIERS[name]
    found = read(grad(lambda z: (z * z, make(z * 2.0)), has_aux=True)(2.0)[1])
    assert found == 4.0
    assert isinstance(found, float)


def test_objects_of_a_class_that_counts_may_be_returned() -> None:
    class Node:
        total = 0.0

        def __init__(self, v: Any = None) -> None:
            Node.total = Node.total + v

        def get(self) -> Any:
            return Node.total

    def f(x: Any) -> Any:
        node = Node(x)
        return x * x, (node, node.get, Node)

    slope, (node, get, cls) = grad(f, has_aux=True)(2.0)
    assert slope == 4.0
    assert cls is Node
    assert type(node) is Node
    assert Node.total == get() == 0.0


def test_attributes_of_members_that_the_function_has_made() -> None:
    def f(x: Any) -> Any:
        class Choice(enum.Enum):
            A = 1

        Choice.A.w = x  # type: ignore[attr-defined]
        return x * x, Choice.A

    assert grad(f, has_aux=True)(2.0)[1].w == 2.0
