"""Objects stored in single elements: NumPy asks for their number, not for the array they are."""

from __future__ import annotations

import array
import collections
import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad
from tests.support.pairs import rotating

X = np.array([1.7, 2.3, 0.4])


class Own(np.ndarray):
    """Its number is not that in its memory."""

    def __float__(self) -> float:
        return 50.0 * float(np.asarray(self).ravel()[0])


class Held:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __float__(self) -> float:
        return 20.0 * self.held


class Converted(Held):
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.held)


class Sequence(Held):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, i: int) -> Any:
        return [self.held][i]


VALUES: dict[str, Callable[[Any], Any]] = {
    "own": lambda x: (x[0] * 1.0).reshape(()).view(Own),
    "own, an axis": lambda x: (x[:1] * 1.0).view(Own),
    "own, constant": lambda x: np.array(3.0).view(Own),
    "held": lambda x: Held(x[0] * 1.0),
    "converted": lambda x: Converted(x[0] * 1.0),
    "converted, constant": lambda x: Converted(3.0),
    "sequence": lambda x: Sequence(x[0] * 1.0),
}


def stored(store: Callable[[Any, Any], None], *shape: int) -> Callable[[Any, Any], Any]:
    def program(x: Any, v: Any) -> Any:
        a = np.zeros(shape)
        a[...] = x[1]
        store(a, v)
        return a

    return program


def put_flat(a: Any, v: Any) -> None:
    a.flat[1] = v


USES: dict[str, Callable[[Any, Any], Any]] = {
    "a[0]": stored(lambda a, v: a.__setitem__(0, v), 3),
    "a[0, 1]": stored(lambda a, v: a.__setitem__((0, 1), v), 2, 2),
    "a[()]": stored(lambda a, v: a.__setitem__((), v)),
    "flat": stored(put_flat, 2, 2),
    "fill": stored(lambda a, v: a.fill(v), 2),
    "fromiter": lambda x, v: np.fromiter(iter([v, x[1]]), float),
    "float64": lambda x, v: np.float64(v) * x[1],
}
ITEMS: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda x, v: np.array([x[1], v]),
    "a[:2]": stored(lambda a, v: a.__setitem__(slice(0, 2), [v, 1.0]), 3),
    "add": lambda x, v: np.add([1.0, v], x[1]),
    "concatenate": lambda x, v: np.concatenate([[v], x]),
    "sum": lambda x, v: np.sum([v, x[1]]),
}
OF_ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "a[0, ...]": stored(lambda a, v: a.__setitem__((0, ...), v), 2, 2),
    "a[:1]": stored(lambda a, v: a.__setitem__(slice(0, 1), v), 3),
    "hstack": lambda x, v: np.hstack([v, x]),
    "block": lambda x, v: np.block([[v, x[1]], [x[0], v]]),
}


def check(use: Any, make: Any) -> None:
    def f(x: Any) -> Any:
        y = np.asarray(use(x, make(x)))
        return np.sum(y * np.arange(1.0, 1 + y.size).reshape(y.shape))

    value, g = value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    expected = [(f(X + 1e-5 * e) - f(X - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    np.testing.assert_allclose(g, expected, rtol=1e-5, atol=1e-6)
    v = np.array([0.3, -1.0, 0.5])
    assert jvp(f, (X,), (v,))[1] == pytest.approx(v @ np.array(expected), rel=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("use", "kind"), rotating(USES, VALUES, times=2))
def test_elements_store_numbers(use: str, kind: str) -> None:
    check(USES[use], VALUES[kind])


@pytest.mark.parametrize("kind", ["own", "own, constant"])
@pytest.mark.parametrize("use", ITEMS)
def test_items_store_numbers(use: str, kind: str) -> None:
    check(ITEMS[use], VALUES[kind])


@pytest.mark.parametrize("kind", ["own", "own, constant", "converted", "converted, constant"])
@pytest.mark.parametrize("use", OF_ARRAYS)
def test_arrays_stay_arrays(use: str, kind: str) -> None:
    check(OF_ARRAYS[use], VALUES[kind])


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_masked_constants_become_nan() -> None:
    y = value_and_grad(lambda x: (x[0], np.array([x[1], np.ma.masked])), has_aux=True)(X)[0][1]
    np.testing.assert_array_equal(y, [X[1], np.nan])


SHORTER = {
    "list": [1.0, 2.0, 3.0],
    "tuple": (1.0, 2.0, 3.0),
    "range": range(1, 4),
    "array.array": array.array("d", [1.0, 2.0, 3.0]),
    "deque": collections.deque([1.0, 2.0, 3.0]),
    "ctypes": (ctypes.c_double * 3)(1.0, 2.0, 3.0),
}


@pytest.mark.parametrize("v", SHORTER.values(), ids=SHORTER)
@pytest.mark.parametrize("i", [slice(None, None, 4), [1, 2, 3, 4, 5, 6, 7], Ellipsis])
def test_a_shorter_sequence_repeats_in_flat(v: Any, i: Any) -> None:
    weights = np.arange(21.0).reshape(7, 3)

    def f(x: Any) -> Any:
        a = x * np.ones((7, 3))
        a.flat[i] = v
        return np.sum(a**2 * weights)

    assert value_and_grad(f)(2.0)[0] == f(2.0)
    slope = (f(2.0 + 1e-5) - f(2.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose(grad(f)(2.0), slope, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (2.0,), (1.0,))[1], slope, rtol=1e-7, atol=1e-7)


NOTHING = {
    "all": (Ellipsis, lambda x: x[:0]),
    "slice": (slice(None), lambda x: []),
    "part": (slice(2, 4), lambda x: x[:0]),
    "list": ([0, 2], lambda x: ()),
    "mask": (np.arange(6) > 2, lambda x: x[:0]),
    "outside": ([7], lambda x: []),
    "nowhere": (False, lambda x: x[0]),
}


@pytest.mark.parametrize(("i", "of"), NOTHING.values(), ids=NOTHING)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_nothing_written_to_flat_changes_nothing(i: Any, of: Any) -> None:
    def f(x: Any) -> Any:
        y = x * x
        if i is Ellipsis:
            y.flat = of(x)
        else:
            y.flat[i] = of(x)
        return np.sum(y)

    value, dx = value_and_grad(f)(np.arange(6.0))
    assert value == f(np.arange(6.0)) == 55.0
    np.testing.assert_array_equal(dx, 2 * np.arange(6.0))
    assert jvp(f, (np.arange(6.0),), (np.ones(6),))[1] == 30.0


NO_ELEMENT = {
    "array": (1, lambda x: x[:2]),
    "one": (-1, lambda x: x[:1]),
    "list": (np.int64(1), lambda x: [x[0]]),
    "nested": ((1,), lambda x: [[x[0]]]),
    "empty": (np.array(1), lambda x: x[:0]),
    "truth": (True, lambda x: x[:2]),
    "no-index": ((), lambda x: x[0]),
}


@pytest.mark.parametrize(("i", "of"), NO_ELEMENT.values(), ids=NO_ELEMENT)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_no_element_of_flat_raises_what_it_raises(i: Any, of: Any) -> None:
    def f(x: Any) -> Any:
        y = x * x
        y.flat[i] = of(x)
        return np.sum(y)

    x = np.arange(3.0)
    try:
        f(x)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            value_and_grad(f)(x)
    else:
        pytest.skip("this NumPy takes it")


def test_flat_of_memory_that_overlaps_is_written_in_order() -> None:
    def f(x: Any) -> Any:
        y = 1.0 * x
        z = np.lib.stride_tricks.as_strided(y, (3, 2), (8, 8))
        z.flat[[3, 2, 1, 3]] = x * x
        return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0]))

    x = np.array([0.5, 1.5, 2.5, 3.5])
    value, dx = value_and_grad(f)(x)
    assert value == f(x)
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(dx, slopes, rtol=1e-7, atol=1e-7)
