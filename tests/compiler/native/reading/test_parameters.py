"""Arguments that calls pass in every form, and the parameters that take them."""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import grad, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import require_whole

pytestmark = pytest.mark.plain

WEIGHTS = np.array([1.0, 2.0, 0.5, -1.0])
DOUBLED = partial(lambda k, t, shift=0.0: k * t * t + shift, 2.0, shift=0.5)


def weighted(first, /, second, *rest, scale=1.0, **named):
    total = first * second * scale
    for k, v in enumerate(rest):
        total += (k + 1) * v
    for name, v in named.items():
        total += v * v if name == "square" else v
    return total


def stars(x, a):
    pair = (x[0], x[1])
    more = dict_of(scale=a, square=x[2])
    y = weighted(*pair, *[x[3], a * a], **more)
    y += weighted(x[0], second=a, other=x[1]) + weighted(*(v * a for v in pair))
    return y * max(*pair, more["scale"])


def changed_afterwards(x, a):
    def take(*items, **named):
        return items[0] * named["t"] + items[1]

    t = x[0] * 2.0
    args = (t, x[1])
    named = dict_of(t=t)
    t = a * 7.0
    return take(*args, **named) * t


def stars_in_lists(x, a):
    pair = (x[0], a)
    items = [*pair, 2.0, *[v * a for v in pair]]
    more = (*items, *pair)
    return np.array([*items, x[1]]) @ np.array(more[:6]) + len(more) * x[2]


def dict_of(**named):
    return named


def defaults(x, a):
    def own(t, power=a, *, by=x[0] * 2.0):
        return t * power + by

    a = a * 3.0
    f = lambda t, *rest, k=2.0: t * k + sum(rest)  # noqa: E731
    return own(x[1]) + own(x[1], by=a) + by_default(x) * a + f(x[0], a, x[1]) + f(a, k=x[2])


def by_default(x, weights=WEIGHTS, items=[1.0, 2.0], factor=1.5):  # noqa: B006
    return (weights @ x) * items[1] * factor


def twice(f):
    @wraps(f)
    def wrapper(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return wrapper


def to_power(n):
    def decorator(f):
        def wrapper(*args):
            return f(*args) ** n

        return wrapper

    return decorator


@twice
def decorated(t, u=1.0):
    return t * t * u


def decorators(x, a):
    @twice
    @to_power(3)
    def within(t):
        return t * a

    return decorated(x[0], u=a) + within(x[1]) + decorated(x[2])


def partials(x, a):
    def force(k, c, t, *, shift=0.0):
        return k * t + c * t**2 + shift

    f = partial(force, a)
    g = partial(f, x[0], shift=x[1])
    a = a * 5.0
    both = dict_of(f=f, g=g)
    total = 0.0
    for h in (g, partial(g, shift=a), partial(both["f"], 2.0)):
        total += applied(h, x[2])
    return total + applied(g, t=x[3]) + DOUBLED(x[3]) + DOUBLED(a, shift=x[0])


def applied(f, t):
    return f(t) * f(2.0 * t)


def partials_of_arrays(x, a):
    u = x * a

    def dot(p, q):
        return p @ q

    f = partial(dot, u)
    u[0] = 3.0 * a
    return f(x)


FUNCTIONS = [
    stars, stars_in_lists, changed_afterwards, defaults, decorators, partials, partials_of_arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_mode(f: Any, tried: list[bool]) -> None:
    require_whole(f, tried)


def test_starred_parameters_of_the_function_itself(tried: list[bool]) -> None:
    def f(x, *rest, scale=2.0, **named):
        total = np.sum(x * x) * scale
        for v in rest:
            total += v * v
        return total * named.get("factor", 1.0)

    g = value_and_grad(f, (0, 1), compile=True)
    plain = value_and_grad(f, (0, 1))
    for args, named in (
        ((2.0,), {}), ((2.0, 3.0), {"factor": 4.0}), ((1.5,), {"scale": 3.0, "other": 1.0}),
    ):  # fmt: skip
        for p, q in zip(
            g(WEIGHTS, *args, **named)[1], plain(WEIGHTS, *args, **named)[1], strict=True
        ):
            assert_allclose(p, q)
    assert report(f)[0].found == "compiled", report(f)
    assert tried == [True] * 3


def test_defaults_that_change_between_calls(tried: list[bool]) -> None:
    weights = np.array([1.0, 2.0])

    def f(x):
        def inner(t, w=weights):
            return t @ w

        return outer(x) + inner(x)

    def outer(t, w=weights, k=3.0):
        return k * (t @ w)

    g = grad(f, compile=True)
    x = np.array([0.5, 1.5])
    assert_allclose(g(x), [4.0, 8.0])
    weights[0] = 5.0
    assert_allclose(g(x), [20.0, 8.0])
    outer.__defaults__ = (np.array([1.0, 1.0]), 2.0)
    assert_allclose(g(x), [7.0, 4.0])
    assert tried == [True] * 3


def test_calls_that_do_not_fit_raise_as_they_do(tried: list[bool]) -> None:
    def f(t, /, u, *, w=1.0):
        return t * u * w

    calls = [
        lambda x: f(x, u=x, t=x), lambda x: f(x, x, x), lambda x: f(t=x, u=x),
        lambda x: f(x, x, w=x, v=x), lambda x: f(x), lambda x: f(x, x, **dict_of(u=x)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError):
            grad(call, compile=True)(2.0)
    assert not tried
