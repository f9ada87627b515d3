"""Programs that fail raise what the plain call raises: the same class, in the same words."""

from __future__ import annotations

import dataclasses
import functools
import operator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, from_vjp, grad, hvp, jvp, local_rules, overlay
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("each mode is named here")

X = np.array([1.0, 2.0, 3.0])
TABLE = np.array([4.0, 5.0, 6.0])


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


def writes_at_float(v):
    table = np.zeros(3)
    table[v] = 1.0


def unpacks(v):
    a, b = v
    return a + b


def unpacks_some(v):
    a, *rest = v
    return a, rest


def iterates(v):
    for _ in v:
        pass


def enters(v):
    with v:
        pass


def deletes(v):
    del v.name


NUMBERS = [
    lambda v: TABLE[v],
    lambda v: TABLE[:, None][0, v],
    writes_at_float,
    lambda v: [1.0, 2.0][v],
    lambda v: (1.0, 2.0)[v],
    lambda v: "ab"[v],
    lambda v: range(v),
    lambda v: v(),
    lambda v: len(v),
    lambda v: list(v),
    lambda v: iter(v),
    iterates,
    unpacks,
    unpacks_some,
    enters,
    deletes,
    lambda v: 3 in v,
    lambda v: v + "a",
    lambda v: v + None,
    lambda v: v < None,
    lambda v: setattr(v, "name", 1),
    lambda v: sum(v),
    lambda v: sum([v], "a"),
    lambda v: next(v),
    lambda v: zip(v),
    lambda v: getattr(v, v),
    lambda v: functools.reduce(operator.add, [v], 1, 2),
    lambda v: np.add(v, v, v),
    lambda v: np.full(v, v),
    lambda v: TABLE.item(v),
    lambda v: TABLE.reshape(v),
    lambda v: TABLE.sum(axis=v),
    lambda v: np.linspace(0.0, 1.0, v),
    lambda v: Pair(v),
    lambda v: Pair(),  # pyright: ignore[reportCallIssue]
    lambda v: Pair(v, v, v),  # pyright: ignore[reportCallIssue]
]

ARRAYS = [
    lambda v: TABLE[v],
    lambda v: TABLE[v[0]],
    lambda v: [1.0, 2.0][v[0]],
    lambda v: np.bincount(v),
    lambda v: np.sin(v, out=3),
    lambda v: np.add.outer(v),
    lambda v: np.add.at(v, 0),
    lambda v: np.add.at(v),
    lambda v: np.add.at(v, 9, 1.0),
    lambda v: np.add.at(v, [0, 1], np.ones(3)),
    lambda v: np.add.at(3.0, 0, v[0]),
    lambda v: np.subtract.at([1.0], 0, v[0]),
    lambda v: np.subtract.at(v, "a", 1.0),
    lambda v: np.multiply.at(v, 0),
    lambda v: np.negative.at(v),
    lambda v: np.negative.at(v, 0, 1.0),
]


def outcome(run: Any) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        run()
    return type(caught.value), str(caught.value)


def numbered(programs: Any) -> Any:
    return [pytest.param(f, id=str(i)) for i, f in enumerate(programs)]


def check(f: Any, x: Any) -> None:
    expected = outcome(lambda: f(x.copy() if isinstance(x, np.ndarray) else x))
    assert outcome(lambda: grad(f)(x)) == expected
    assert outcome(lambda: grad(f, debug=True)(x)) == expected
    assert outcome(lambda: jvp(f, (x,), (x,))) == expected
    assert outcome(lambda: jvp(f, (x,), [(x,), (x,)])) == expected
    assert outcome(lambda: hvp(f, (x,), x)) == expected


@pytest.mark.parametrize(("f", "x"), rotating(NUMBERS, [1.0, np.float64(1.0), np.float32(1.0)]))
def test_numbers(f, x):
    check(f, x)


@pytest.mark.parametrize("f", [iterates, len, lambda v: v(), unpacks])
def test_complex_numbers_are_no_floats(f):
    for z in (1.0 + 2.0j, np.complex128(1.0 + 2.0j)):
        expected = outcome(lambda z=z: f(z))
        assert "complex" in expected[1]
        assert outcome(lambda z=z: grad(f)(z)) == expected


@pytest.mark.parametrize("f", numbered(ARRAYS))
def test_arrays(f):
    check(f, X)
    np.testing.assert_array_equal(X, [1.0, 2.0, 3.0])


def test_an_index_error_may_be_caught():
    def falls_back(v):
        try:
            return TABLE[v]
        except IndexError:
            return v * v

    assert grad(falls_back)(3.0) == 6.0
    assert jvp(falls_back, (3.0,), (1.0,)) == (9.0, 6.0)
    assert hvp(falls_back, (3.0,), 1.0) == 2.0


def test_quotients_of_floats():
    def divides(v):
        return divmod(v, v - 1.0)

    assert outcome(lambda: grad(divides)(1.0)) == outcome(lambda: divides(1.0))


def test_names_are_left_where_it_is_not_known_which_number_is_meant():
    def mixes(v):
        w = 2.0
        return v * w + w()  # pyright: ignore[reportCallIssue]

    with pytest.raises(TypeError, match="'float' object is not callable"):
        grad(mixes)(np.float64(1.0))


def test_functions_with_rules_of_users_are_not_run_to_see_what_they_raise():
    calls = []

    def scaled(x, *, by=2.0):
        calls.append(1)
        return x * by

    def failing(x):
        calls.append(1)
        return x

    with local_rules():

        @from_vjp(scaled)
        def scaled_rule(x, *, by=2.0):
            return x * by, lambda dy: (dy * by,)

        @overlay(failing)
        def replacement(x):
            raise ValueError("mine")

        with pytest.raises(MissingRuleError, match="derivative with respect to argument 'by'"):
            grad(lambda by: scaled(3.0, by=by))(2.0)
        with pytest.raises(MissingRuleError, match="derivative with respect to argument 'by'"):
            jvp(lambda by: scaled(3.0, by=by), (2.0,), (1.0,))
        with pytest.raises(ValueError, match="mine"):
            grad(failing)(1.0)
    assert calls == []
