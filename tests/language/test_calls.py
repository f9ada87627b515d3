"""Functions, arguments, closures, decorators and generators against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B006, RET504, UP033

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
DEFAULT = np.array([1.0, 2.0, 3.0])


def scaled(v, factor=2.0, *, shift=1.0):
    return v * factor + shift


def positional_only(a, b, /, c=3.0):
    return a * b + c


def weighted(*values, weight=1.0, **named):
    return sum(values) * weight + sum(named.values())


@programs(2.0)
def defaults_and_keywords(x):
    return scaled(x) + scaled(x, x) + scaled(v=x, shift=x * x) + scaled(x, factor=x, shift=x)


@programs(2.0)
def positional_only_parameters(x):
    return positional_only(x, x * 2) + positional_only(1.0, x, c=x)


@programs(2.0)
def varargs_empty_and_full(x):
    return weighted() + weighted(x) + weighted(x, x * x, weight=x, p=x, q=3.0)


@programs(X)
def splat_array(a):
    return weighted(*a, weight=a[0])


@programs({"p": 1.5, "q": 2.0}, 3.0)
def splat_dict(d, x):
    return weighted(x, **d) + weighted(x, **{**d, "r": x * x})


@programs(2.0)
def splat_several(x):
    return weighted(*[x, x], 1.0, *(x * x,), weight=2.0, a=x, b=x)


@programs(2.0)
def default_evaluated_inside(x):
    def f(v, w=x * x):
        return v * w

    return f(3.0) + f(x)


@programs(2.0)
def keyword_only_default_evaluated_inside(x):
    def f(v, *, w=x * x):
        return v * w

    return f(3.0) + f(x, w=x)


@programs(X)
def default_array_argument(a):
    def f(v, w=DEFAULT):
        return np.sum(v * w)

    return f(a)


@programs(2.0)
def mutable_default(x):
    def push(v, seen=[]):
        seen.append(v)
        return sum(seen)

    return push(x) * push(x * x)


@programs(2.0)
def closures_share_a_cell(x):
    total = x

    def bump(v):
        nonlocal total
        total = total * v

    def read():
        return total

    bump(x)
    bump(3.0)
    return read() + total


@programs(2.0)
def counter_factory(x):
    def make(start):
        count = start

        def step(v):
            nonlocal count
            count += v
            return count

        return step

    a, b = make(x), make(1.0)
    a(x)
    return a(2.0) * b(x)


@programs(2.0)
def higher_order(x):
    def compose(*fs):
        def composed(v):
            for f in fs:
                v = f(v)
            return v

        return composed

    return compose(lambda v: v * v, np.sin, scaled)(x)


@programs(2.0)
def function_in_container(x):
    table = {"square": lambda v: v * v, "cube": lambda v: v**3}
    return sum(f(x) for f in table.values()) * table["square"](x)


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


def times(factor):
    def decorate(f):
        def wrapper(v):
            return factor * f(v)

        return wrapper

    return decorate


@doubled
def doubled_square(v):
    return v * v


@functools.lru_cache(maxsize=None)
def cached_cube(v):
    return v**3


@functools.singledispatch
def area(shape: Any) -> Any:
    return shape * shape


@area.register
def _(shape: tuple) -> Any:
    return shape[0] * shape[1]


@programs(2.0)
def decorated_outside(x):
    return doubled_square(x)


@programs(2.0)
def decorated_inside(x):
    @doubled
    @times(x)
    def f(v):
        return v * v

    return f(x) + f(3.0)


@programs(2.0)
def lru_cache_called_twice(x):
    return cached_cube(x) + cached_cube(x) * cached_cube(2.0)


@programs(2.0)
def single_dispatch(x):
    return area(x) + area((x, 3.0))


@programs(2.0)
def partial_calls(x):
    f = functools.partial(scaled, factor=x, shift=x)
    g = functools.partial(f, x)
    return f(3.0) * g() + functools.partial(weighted, x)(x, weight=2.0)


@programs(X)
def reduce_calls(a):
    return functools.reduce(lambda u, v: u * v + v, a) + functools.reduce(max, list(a), 0.0)


@programs(2.0)
def generator_with_loop(x):
    def powers(v):
        y = v
        while True:
            yield y
            y = y * v

    total = 0.0
    for k, y in enumerate(powers(x)):
        if k == 4:
            break
        total += y
    return total


@programs(2.0)
def generator_send_and_return(x):
    def accumulate(v):
        total = v
        while (received := (yield total)) is not None:
            total = total * received
        return total * 10

    g = accumulate(x)
    next(g)
    g.send(x)
    y = g.send(3.0)
    try:
        g.send(None)
    except StopIteration as stop:
        return stop.value + y
    return 0.0


@programs(2.0)
def generator_delegates(x):
    def inner(v):
        yield v
        yield v * v
        return v * 3

    def outer(v):
        result = yield from inner(v)
        yield result
        yield from [v, 1.0]

    return sum(y * k for k, y in enumerate(outer(x), start=1))


@programs(X)
def generator_delegates_to_array(a):
    def each(v):
        yield from v

    return sum(y * y for y in each(a))


@programs(X)
def generator_mutates_while_suspended(a):
    def sweep(v):
        for i in range(len(v)):
            v[i] *= 2
            yield np.sum(v)

    total = 0.0
    for s in sweep(a):
        total += s * s
        a += 0.5
    return total


@programs(2.0)
def generator_close_runs_finally(x):
    log = []

    def g(v):
        try:
            yield v
            yield v * v
        finally:
            log.append(v * 7)

    it = g(x)
    y = next(it)
    it.close()
    return y * log[0]


@programs(2.0)
def generator_throw(x):
    def g(v):
        try:
            yield v
        except ValueError as error:
            yield error.args[0] * v

    it = g(x)
    next(it)
    return it.throw(ValueError(x * 3))


class Scaling:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        return lambda v: v * self.factor

    def __exit__(self, kind, error, trace):
        return kind is ZeroDivisionError


@programs(2.0)
def with_class(x):
    y = 0.0
    with Scaling(x) as scale, Scaling(3.0) as other:
        y = scale(x) + other(x)
        y = y * (1 / 0)
    return y


@programs(X)
def with_contextlib(a):
    @contextlib.contextmanager
    def doubling(v):
        v *= 2
        try:
            yield v[0]
        finally:
            v /= 4

    with doubling(a) as first:
        total = np.sum(a) * first
    return total + np.sum(a * a)


@programs(2.0)
def with_suppress_and_errstate(x):
    with contextlib.suppress(KeyError), np.errstate(divide="ignore"):
        y = x * x
        {}["missing"]
    return y


@programs(2.0)
def with_exit_stack(x):
    log = []
    with contextlib.ExitStack() as stack:
        scale = stack.enter_context(Scaling(x))
        stack.callback(log.append, x * 5)
        y = scale(x)
    return y * log[0]


@programs(2.0)
def with_nullcontext(x):
    with contextlib.nullcontext(x * x) as y:
        return y * 3


@programs(2.0)
def recursive_closure_over_list(x):
    seen = []

    def walk(v, depth):
        seen.append(v)
        if depth:
            walk(v * x, depth - 1)

    walk(1.0, 3)
    return sum(seen)


@programs([1.0, 2.0], 3.0)
def argument_is_mutated_by_callee(values, x):
    def grow(target, v):
        target.append(v * v)
        target[0] *= v

    grow(values, x)
    return values[0] * values[1] * values[2]


@programs(X)
def out_parameter(a):
    def square_into(v, out):
        out[:] = v * v

    out = np.empty(3)
    square_into(a, out)
    return np.sum(out * a)


@programs(X)
def higher_order_over_arrays(a):
    def integrate(f, n):
        h = 1.0 / n
        return h * sum(f((k + 0.5) * h) for k in range(n))

    return integrate(lambda t: a[0] * t**2 + a[1] * t + a[2], 5)


@programs(1.2)
def newton_iteration(x):
    y = x
    for _ in range(20):
        step = (y * y - x) / (2 * y)
        y -= step
        if abs(step) < 1e-12:
            break
    return y


@programs(2.0)
def class_inside_function(x):
    class Local:
        scale = 3.0

        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v * self.scale * x

    return Local(x * x).get()


@programs(2.0)
def class_body_uses_active(x):
    class Local:
        factor = x * x

    return Local.factor * 3


@programs(2.0)
def eval_free_namespace(x):
    names = {"v": x}
    exec_free = names.get("v") * 2
    return exec_free


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
