"""From functions to regions: what they compute, and what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from mooncake_py.compiler.native.building.looked import found_at
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.lowering.lower import lowered
from mooncake_py.compiler.native.reading.reader import read_function
from tests.compiler.native.whole_functions import FUNCTIONS
from tests.support.interpreted import INTERPRETED
from tests.support.pairs import rotating


def run(f, args, change=lambda region: region):
    """Run a function as its region, and return whether it ran and what it gives back."""
    types = [type_of(a) for a in args]
    reading = read_function(f, types)
    region = change(reading.region)
    printer = INTERPRETED.printer(region.kinds, region.arrays)
    printer.forward(region.body, region.inputs, region.results)
    flat = [found_at(args, place) for place in reading.places]
    ok, _, _, *results = INTERPRETED.built(printer)["forward"](np.empty(0), *flat)
    return ok, results


@pytest.mark.parametrize(("name", "change"), rotating(FUNCTIONS, [lambda region: region, lowered]))
def test_region_computes_what_the_function_does(name, change):
    f, args = FUNCTIONS[name]
    first, second = copy.deepcopy(args), copy.deepcopy(args)
    expected = f(*first)
    ok, results = run(f, second, change)
    assert ok
    np.testing.assert_allclose(results[0], expected, rtol=1e-13)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def why(f, *args):
    with pytest.raises(Unfit) as error:
        read_function(f, [type_of(a) for a in args])
    return error.value.why


def test_what_is_refused_is_said():
    x, A = np.ones(3), np.ones((2, 2))

    def function(x):
        return np.partition(x, 1)[0]

    def comprehension(x):
        return len({v: w for v in x for w in x})

    def sign(k):
        return np.sign(k)

    def diagonal(A):
        d = np.diagonal(A)[1:]
        d[0] = 2.0
        return d[0]

    def early(x):
        for v in x:
            if v > 0:
                return v, 1
        return 0.0

    def view(x):
        return x[1:]

    def unbound(x):
        if x[0] > 0:
            y = x[1]
        return y

    def itself(x):
        return itself(x)

    assert "function partition" in why(function, x)
    assert "a dict or a set" in why(comprehension, x)
    assert "sign of ints" in why(sign, np.arange(3))
    assert "must not be written" in why(diagonal, A)
    assert "a tuple or a float as a result" in why(early, x)
    assert "view" in why(view, x)
    assert "may not be bound" in why(unbound, x)
    assert "calls itself" in why(itself, x)
    assert "bools of NumPy" in why(lambda x: np.isfinite(x[0]) + True, x)
    assert "by a path" in why(lambda x: np.einsum("i,i->", x, x, optimize=True), x)
    assert "power of bools" in why(lambda x: x[0] ** (x[1] > 0), x)


def test_functions_that_are_not_known_are_refused():
    special = pytest.importorskip("scipy.special")
    assert "eval_chebyc" in why(lambda x: np.sum(special.eval_chebyc(2, x)), np.ones(3))
    assert "elliprc" in why(lambda x: special.elliprc(x[0], x[1]), np.ones(3))


def test_refusals_name_the_line():
    def f(x):
        y = x * 2
        return np.partition(y, 1)[0]

    with pytest.raises(Unfit) as error:
        read_function(f, [type_of(np.ones(3))])
    assert error.value.place is not None
    assert error.value.place.line == f.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: x[5], id="index"),
        pytest.param(lambda x: x[2:] - x[:2], id="shapes"),
        pytest.param(lambda x: 1.0 / (len(x) - 3), id="zero"),
        pytest.param(lambda x: x[:9].sum(), id="bounds"),
    ],
)
def test_what_would_raise_or_differ_leaves_the_region(f):
    ok, _ = run(f, (np.ones(3),))
    assert not ok
