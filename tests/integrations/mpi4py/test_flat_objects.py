"""A message of objects arrives as pickle sends it: what stands twice in it is one object."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py")

from mooncake_py import grad, jvp
from mooncake_py.integrations.mpi4py.flat_objects import flat_message

X = np.array([0.7, 1.3, -0.4])


class Named:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@dataclass
class Pair:
    a: Any
    b: Any


def twice_in_a_list(x):
    return [x, x], lambda sent: (sent[0], sent[1])


def twice_in_a_dict(x):
    return OrderedDict(a=x, b=2.0, c=x), lambda sent: (sent["a"], sent["c"])


def twice_in_an_object(x):
    return Named(x, x), lambda sent: (sent.a, sent.b)


def twice_in_a_dataclass(x):
    return Pair(x, (1, x)), lambda sent: (sent.a, sent.b[1])


def a_list_twice(x):
    held = [x]
    return (held, {"a": held}), lambda sent: (sent[0][0], sent[1]["a"][0])


def an_object_twice(x):
    held = Named(x, None)
    return [held, Pair(held, 1)], lambda sent: (sent[0].a, sent[1].a.a)


MAKERS = [
    twice_in_a_list, twice_in_a_dict, twice_in_an_object, twice_in_a_dataclass, a_list_twice,
    an_object_twice,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_write_to_one_shows_in_the_other(make: Any) -> None:
    def f(x):
        objects, both = make(x)
        vector, build = flat_message(objects)
        a, b = both(build(vector * 1.0))
        a[0] = a[1] ** 2
        return np.sum(b**3)

    def as_pickled(x):
        objects, both = make(x)
        a, b = both(pickle.loads(pickle.dumps(objects)))
        a[0] = a[1] ** 2
        return np.sum(b**3)

    assert f(X.copy()) == as_pickled(X.copy())
    expected = [0.0, 3.0 * X[1] ** 2 + 6.0 * X[1] ** 5, 3.0 * X[2] ** 2]
    np.testing.assert_allclose(grad(f)(X.copy()), expected)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (X,))[1], expected @ X)


def test_each_vector_makes_objects_of_its_own() -> None:
    vector, build = flat_message([X, X])
    first, second = build(vector), build(vector.copy())
    assert first[0] is first[1]
    assert second[0] is not first[0]


def test_the_order_of_memory_is_kept() -> None:
    columns = np.asfortranarray(np.outer(X, X))
    vector, build = flat_message({"a": columns})
    np.testing.assert_array_equal(build(vector)["a"], columns)
    assert build(vector)["a"].flags.f_contiguous
