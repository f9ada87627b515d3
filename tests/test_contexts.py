"""Contexts of a user's own; that the base class equals Python is tested with the rewriting."""

from __future__ import annotations

import functools
import operator
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from mooncake_py.contexts import Context


class Recorder(Context):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def operation(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.seen.append(function)
        return super().operation(function, *args, **kwargs)


class Scaler:
    def __init__(self, factor: float) -> None:
        self.factor = factor * 2.0

    def __call__(self, x: float) -> float:
        return self.factor * x

    def moved(self, x: float, by: float = 0.0) -> float:
        return self(x) + by


def uses_objects(x: float) -> float:
    scaler = Scaler(x)
    moved = functools.partial(scaler.moved, by=x)
    return moved(x) - scaler(1.0)


def test_enters_constructors_methods_partials_and_callable_objects() -> None:
    context = Recorder()
    assert context.run(uses_objects, 3.0) == uses_objects(3.0)
    assert context.seen == [
        operator.mul,
        functools.partial,
        operator.mul,
        operator.add,
        operator.mul,
        operator.sub,
    ]


def test_methods_of_builtin_types_come_as_functions_of_the_type() -> None:
    def f(a: Any) -> Any:
        a.sort()
        return a.reshape(2, 2).sum(axis=0)

    context = Recorder()
    assert context.run(f, np.array([3.0, 1.0, 2.0, 0.0])).tolist() == [2.0, 4.0]
    assert context.seen == [np.ndarray.sort, np.ndarray.reshape, np.ndarray.sum]


def test_what_is_not_entered_runs_natively() -> None:
    class Closed(Recorder):
        def enters(self, f: FunctionType) -> bool:
            return f.__name__ != "inner"

    def inner(x: float) -> float:
        return x * x

    def f(x: float) -> float:
        return inner(x) + 1.0

    context = Closed()
    assert context.run(f, 3.0) == 10.0
    assert context.seen == [inner, operator.add]


def test_source_that_is_not_available_runs_natively() -> None:
    scope: dict[str, Any] = {}
    exec("def hidden(x): return x * x", scope)
    context = Recorder()
    assert context.run(lambda x: scope["hidden"](x), 3.0) == 9.0
    assert context.seen == [operator.getitem, scope["hidden"]]


def test_exceptions_pass_with_the_users_lines() -> None:
    def f(x: float) -> float:
        return 1.0 / (x - x)

    with pytest.raises(ZeroDivisionError) as info:
        Context().run(f, 1.0)
    names = [entry.name for entry in info.traceback]
    assert "f" in names


def test_replaced_meaning_reaches_every_statement() -> None:
    class Backwards(Context):
        def add(self, a: Any, b: Any) -> Any:
            return super().sub(a, b)

        def iadd(self, a: Any, b: Any) -> Any:
            return self.add(a, b)

    def f(x: float, v: Any) -> Any:
        y = x + 1.0
        y += 2.0
        v[0] += y
        return v, sum([y, 1.0])

    v, total = Backwards().run(f, 5.0, [10.0])
    assert v == [8.0]
    assert total == 3.0  # a compiled function adds by itself


def test_jitted_functions_are_entered() -> None:
    numba = pytest.importorskip("numba")
    context = Recorder()
    assert context.run(numba.njit(lambda x: x * x + 1.0), 3.0) == 10.0
    assert context.seen == [operator.mul, operator.add]
