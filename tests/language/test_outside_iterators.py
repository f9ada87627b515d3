"""Iterators that were made before the call, over a vector that becomes active."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from mooncake_py.errors import DerivativeDropError
from mooncake_py.language.outside_iterators import vectors_of
from tests.support.pairs import rotating

pytestmark = pytest.mark.without_modes("the modes are those of the test")

MAKE: dict[str, Any] = {
    "iter": iter,
    "reversed": lambda a: reversed(a[:1]),
    "enumerate": enumerate,
    "zip": lambda a: zip(a, [1, 2, 3], strict=True),
    "zip of one": lambda a: (lambda it: zip(it, it, strict=False))(iter(a)),
    "map": lambda a: map(abs, a),
    "filter": lambda a: filter(None, a),
    "chain": lambda a: itertools.chain(a, [1.0]),
    "later": lambda a: itertools.chain([], [a[0] * 0], a),
    "from_iterable": lambda a: itertools.chain.from_iterable([a, a]),
    "islice": lambda a: itertools.islice(a, 0, 2),
    "cycle": itertools.cycle,
    "pairwise": itertools.pairwise,
    "starmap": lambda a: itertools.starmap(operator.mul, zip(a, a, strict=True)),
    "accumulate": itertools.accumulate,
    "groupby": itertools.groupby,
    "tee": lambda a: itertools.tee(a)[0],
    "takewhile": lambda a: itertools.takewhile(lambda v: v > 0, a),
    "compress": lambda a: itertools.compress(a, [True, True, True]),
    "zip_longest": lambda a: itertools.zip_longest(a, [1]),
    "flat": lambda a: a.flat,
    "nditer": np.nditer,
    "ndenumerate": np.ndenumerate,
    "enumerate of map": lambda a: enumerate(map(abs, a)),
}
REFUSED = {"pairwise", "accumulate", "groupby", "tee", "takewhile"}
WAYS = {
    "grad": lambda f: value_and_grad(f)(3.0),
    "debug": lambda f: value_and_grad(f, debug=True)(3.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,)),
}


def number_in(item: Any) -> Any:
    """Return the last float in an item, before the ones."""
    while type(item) is tuple:
        item = next(part for part in item if type(part) is not int and not is_index(part))
    return item * 1.0


def is_index(part: Any) -> bool:
    return type(part) is tuple and all(type(k) is int for k in part)


def taken_by_next(it: Any) -> Any:
    return number_in(next(it))


def taken_by_loop(it: Any) -> Any:
    for item in it:
        return number_in(item)
    return 0.0


def taken_by_islice(it: Any) -> Any:
    (item,) = itertools.islice(it, 1)
    return number_in(item)


@pytest.mark.parametrize(
    ("name", "take"), rotating(MAKE, [taken_by_next, taken_by_loop, taken_by_islice])
)
def test_the_elements_are_those_of_the_call(name, take):
    def run(way: Any) -> tuple[Any, Any]:
        a = np.ones(3)
        it = MAKE[name](a)

        def f(x):
            a[0] = x
            return take(it) * x + (next(it)[1] if name == "enumerate" else 0.0)

        return way(f), it

    plain = {}
    for k in (0.0, 1.0, -1.0):
        a = np.ones(3)
        it = MAKE[name](a)
        a[0] = x = 3.0 + k * 1e-6
        plain[k] = take(it) * x + (next(it)[1] if name == "enumerate" else 0.0)
    slope = (plain[1.0] - plain[-1.0]) / 2e-6
    for way in WAYS.values():
        if name in REFUSED:
            with pytest.raises(DerivativeDropError, match="made before the call"):
                run(way)
        else:
            (value, d), _ = run(way)
            np.testing.assert_allclose([value, d], [plain[0.0], slope], rtol=1e-6)


def test_the_iterator_of_the_caller_stays_where_it_is():
    a = np.arange(4.0)
    it = iter(a)
    next(it)

    def f(x):
        a[1:] = x
        return next(it) * sum(it) * x

    assert grad(f)(2.0) == 3 * 2 * 2.0**2
    assert list(it) == [1.0, 2.0, 3.0]


def test_a_list_of_vectors_is_not_iterated_further():
    vectors = [np.ones(2), np.ones(3)]
    assert list(vectors_of(enumerate(vectors))) == []
    assert list(vectors_of(itertools.chain(vectors))) == []
    assert len(list(vectors_of(itertools.chain(*vectors)))) == 2
    assert len(list(vectors_of(zip(*vectors, strict=False)))) == 2
