"""Calls with too few and too many arguments raise what the plain call raises."""
# pyright: reportCallIssue=false, reportArgumentType=false

import copy
import functools
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import clip_gradient, grad, jvp, nest_level, stop_gradient

X = np.array([1.5, 2.5])

CALLS: list[Callable[..., Any]] = [
    lambda x, s: abs(),
    lambda x, s: abs(s, s),
    lambda x, s: abs(x=s),
    lambda x, s: np.add(x),
    lambda x, s: np.add(x, x, x, x),
    lambda x, s: np.add(s, s, s, s),
    lambda x, s: np.sin(),
    lambda x, s: np.sin(x, x, x),
    lambda x, s: np.maximum(x, x, x, x),
    lambda x, s: np.matmul(x),
    lambda x, s: np.matmul(x, x, x, x),
    lambda x, s: np.isnan(x, x, x),
    lambda x, s: np.dot(x),
    lambda x, s: np.outer(x),
    lambda x, s: np.linspace(s),
    lambda x, s: np.linalg.solve(np.eye(2) * s),
    lambda x, s: x.dot(),
    lambda x, s: math.sin(s, s),
    lambda x, s: math.sin(x=s),
    lambda x, s: math.atan2(s, s, s),
    lambda x, s: math.log(s, s, s),
    lambda x, s: math.floor(),
    lambda x, s: math.dist(x),
    lambda x, s: operator.add(s),
    lambda x, s: operator.neg(),
    lambda x, s: operator.getitem(x),
    lambda x, s: functools.reduce(operator.add),
    lambda x, s: sum(x, 0, 0),
    lambda x, s: sum(iterable=x),
    lambda x, s: pow(s),
    lambda x, s: round(s, 1, 1),
    lambda x, s: divmod(s),
    lambda x, s: len(),
    lambda x, s: len(x, x),
    lambda x, s: len(x, key=1),
    lambda x, s: bool(s, key=1),
    lambda x, s: any(x, key=1),
    lambda x, s: all(x, key=1),
    lambda x, s: hash(s, key=1),
    lambda x, s: type(s, key=1),
    lambda x, s: reversed(s, key=1),
    lambda x, s: iter(s, key=1),
    lambda x, s: next(s, key=1),
    lambda x, s: set(s, key=1),
    lambda x, s: any(x, x),
    lambda x, s: sorted(x, x),
    lambda x, s: filter(abs),
    lambda x, s: reversed(),
    lambda x, s: reversed(x, x),
    lambda x, s: iter(),
    lambda x, s: next(),
    lambda x, s: isinstance(s),
    lambda x, s: hash(),
    lambda x, s: getattr(x),
    lambda x, s: getattr(x, "shape", 1, 2),
    lambda x, s: hasattr(x),
    lambda x, s: setattr(x, "a"),
    lambda x, s: format(),
    lambda x, s: [s].append(),
    lambda x, s: [s].append(s, s),
    lambda x, s: [s].insert(0),
    lambda x, s: {"a": s}.pop(),
    lambda x, s: copy.deepcopy(),
    lambda x, s: statistics.mean(x, x),
    lambda x, s: stop_gradient(),
    lambda x, s: stop_gradient(x, x),
    lambda x, s: clip_gradient(x, -1, 1),
    lambda x, s: nest_level(3),
]


def plain_error(f: Callable[..., Any]) -> str:
    with pytest.raises(TypeError) as raised:
        f(X)
    return str(raised.value)


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_errors_are_those_of_the_plain_call(k: int) -> None:
    call = CALLS[k]

    def f(x: Any) -> Any:
        call(x, x[0])
        return np.sum(x)

    message = plain_error(f)
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError) as raised:
            derivative(X)
        assert type(raised.value) is TypeError
        assert str(raised.value) == message


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_programs_may_catch_them(k: int) -> None:
    call = CALLS[k]

    def f(x: Any) -> Any:
        try:
            call(x, x[0])
        except TypeError:
            return np.sum(x * x)
        return 0.0

    np.testing.assert_allclose(grad(f)(X), 2.0 * X)
    assert jvp(f, (X,), (X,))[1] == 2.0 * np.sum(X * X)
