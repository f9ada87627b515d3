"""Iterators that were made before the call: a second run takes the items of the first one."""

from __future__ import annotations

import itertools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, checkpoint, grad, hvp, jvp, value_and_grad, vjp

pytestmark = pytest.mark.without_modes("the modes are tried here")

NUMBERS = [1.5, 0.5, 2.5, 3.0, 0.25]
COPIED: dict[str, Callable[[Any], Iterator[Any]]] = {
    "list": lambda a: iter(list(a)),
    "tuple": lambda a: iter(tuple(a)),
    "array": lambda a: iter(a),
    "reversed": lambda a: reversed(a),
    "dict": lambda a: iter(dict.fromkeys(a)),
    "range": lambda a: iter(range(1, 6)),
    "deque": lambda a: iter(deque(a)),
    "flat": lambda a: a.flat,
    "map": lambda a: map(operator.neg, iter(a)),
    "filter": lambda a: filter(None, iter(a)),
}
OF_ITERTOOLS: dict[str, Callable[[Any], Iterator[Any]]] = {
    "count": lambda a: itertools.count(2),
    "chain": lambda a: itertools.chain(iter(a), iter([1.0])),
    "islice": lambda a: itertools.islice(iter(a), 4),
    "cycle": lambda a: itertools.cycle(iter(a[:2])),
    "tee": lambda a: itertools.tee(a)[1],
    "accumulate": lambda a: itertools.accumulate(iter(a)),
    "takewhile": lambda a: itertools.takewhile(lambda v: v < 9, iter(a)),
    "starmap": lambda a: itertools.starmap(operator.mul, zip(a, iter(a), strict=True)),
}
MAKE = COPIED | (OF_ITERTOOLS if sys.version_info < (3, 14) else {})


def of_checkpoint(f: Any, x: Any) -> Any:
    return value_and_grad(lambda x: checkpoint(f, x))(x)


def of_vjp(f: Any, x: Any) -> Any:
    y, pullback = vjp(f, x)
    first, second = pullback(1.0)[0], pullback(1.0)[0]
    np.testing.assert_array_equal(first, second)
    return y, second


def of_several_directions(f: Any, x: Any) -> Any:
    return value_and_grad(f, mode="forward")(x)


WAYS = of_checkpoint, of_vjp, of_several_directions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_constants(make: Any, way: Any) -> None:
    def f(x: Any) -> Any:
        total = next(it) * x[0] + sum(itertools.islice(it, 2)) * x[1]
        for v, w in zip(x, it, strict=False):
            total = total + v * w * w
        return total

    x = np.array([2.0, 3.0])
    it = make(np.array(NUMBERS))
    value, slope = value_and_grad(f)(x)
    rest = list(itertools.islice(it, 3))
    it = make(np.array(NUMBERS))
    y, dx = way(f, x)
    assert y == value
    np.testing.assert_allclose(dx, slope)
    assert list(itertools.islice(it, 3)) == rest  # the caller's is where the first run has left it


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["array", "reversed", "map", "filter", "chain", "islice"])
def test_elements_that_become_active(name: str, way: Any) -> None:
    if name not in MAKE:
        pytest.skip("has no copy in this version of Python")

    def f(x: Any) -> Any:
        total = next(it) * x[0]
        a[1:4] = x * x
        return total + next(it) * x[1] + next(it)

    x = np.array([2.0, 3.0, 0.5])
    a = np.array(NUMBERS)
    it = MAKE[name](a)
    value, slope = value_and_grad(f)(x)
    it = MAKE[name](a)
    y, dx = way(f, x)
    assert y == value
    np.testing.assert_allclose(dx, slope)
    it = MAKE[name](a)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], slope @ x)


def test_second_derivatives() -> None:
    a, it = np.ones(3), iter([1.0, 2.0])

    def f(x: Any) -> Any:
        a[:] = x**3
        return next(over) * next(it) + next(over)

    over = iter(a)
    np.testing.assert_allclose(hvp(f, (np.array([2.0, 1.0, 1.0]),), np.ones(3)), [12.0, 6.0, 0.0])


def test_a_part_that_raises_runs_again_from_where_it_began() -> None:
    it = iter(NUMBERS)

    def f(x: float) -> float:
        total = next(it) * x
        if next(it) * x > 1.0:
            raise ValueError(total)
        return total

    def caught(x: float) -> float:
        try:
            return checkpoint(f, x)
        except ValueError as error:
            return error.args[0] * next(it)

    assert value_and_grad(caught)(4.0) == (1.5 * 4.0 * 2.5, 1.5 * 2.5)
    assert next(it) == 3.0


def test_generators_are_where_the_first_run_has_left_them() -> None:
    it = (v for v in NUMBERS)
    with pytest.raises(MooncakeError, match="second run"):
        grad(lambda x: checkpoint(lambda x: next(it) * x, x))(2.0)


def test_a_copy_that_a_part_only_goes_on_with_is_refused() -> None:
    a = np.ones(3)

    def f(x: float) -> Any:
        a[:] = x
        return next(it) + checkpoint(lambda: next(it) * 3.0)

    it = iter(a)
    with pytest.raises(MooncakeError, match="a second run would not find it"):
        grad(f)(2.0)


@pytest.mark.parametrize("first", [True, False])
def test_two_derivatives_do_not_move_one_iterator(first: bool) -> None:
    a = np.ones(4)

    def f(x: float) -> Any:
        a[:] = [x, x * x, x**3, 1.0]
        y = next(it) if first else 0.0
        y = y + grad(lambda t: t * t * next(it))(3.0)
        return y + next(it)

    it = iter(a)
    with pytest.raises(MooncakeError, match="move it for both"):
        grad(f)(2.0)
    it = iter(a)
    if first:
        with pytest.raises(MooncakeError, match="a second run would not find it"):
            jvp(f, (2.0,), (1.0,))
    else:
        assert jvp(f, (2.0,), (1.0,)) == (6.0 * 2.0 + 4.0, 6.0 + 4.0)
