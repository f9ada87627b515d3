"""What a derivative has used is freed when its result is dropped, without the cyclic collector."""

from __future__ import annotations

import gc
import linecache
import struct
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest

from mooncake_py import CoDual, NoFData, build_rrule, grad, jvp, value_and_grad, vjp
from mooncake_py.errors import NestedDerivativeError
from mooncake_py.frontend import load
from mooncake_py.syntax import source
from tests.support.gradients import Programs
from tests.support.pairs import rotating

pytestmark = [
    pytest.mark.without_modes("a record keeps alive what must go"),
    pytest.mark.usefixtures("only_new_objects"),
]

X = np.linspace(0.1, 1.0, 2000)

programs = Programs()


@programs()
def arrays(x):
    for _ in range(5):
        x = np.sin(x) * x
    return np.sum(x)


@programs()
def in_place(x):
    x[1:] += x[:-1] * x[1:]
    x *= 2
    return np.sum(x * x)


@programs()
def numbers(x):
    t = x[0]
    for _ in range(20):
        t = t * 1.01 + x[1]
    return t


@programs()
def containers(x):
    held = [x]
    by_name = {"a": x}
    for _ in range(3):
        held.append(held[-1] * x)
        by_name.update(b=held[-1])
    by_name.pop("a")
    return np.sum(held.pop()) + np.sum(by_name["b"])


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def __call__(self, z):
        self.last = z * self.weight
        return np.sum(self.last)


@programs()
def objects(x):
    return Layer(x)(x * x)


@programs()
def closures(x):
    squared = x * x

    def inner(z):
        return np.sum(z * squared)

    return inner(x) + (lambda z: np.sum(z * z))(x)


@programs()
def generators(x):
    def steps():
        k = 0.0
        while True:
            yield x * k
            k += 1.0

    running = steps()
    return sum(np.sum(v * v) for v in [next(running), next(running)])


@programs()
def caught_exceptions(x):
    y = x * x
    try:
        raise ValueError(y, x[0])
    except ValueError as error:
        return np.sum(error.args[0])


@programs()
def inner_derivatives(x):
    return np.sum(grad(lambda z: np.sum(z**3))(np.ones(3))) * np.sum(x)


@programs(error=ValueError)
def exceptions(x):
    y = x * x
    x *= 2
    raise ValueError("text", y, x[0])


@programs(error=NotImplementedError)
def refused(x):
    y = x[0] * x[1]
    return struct.unpack("d", struct.pack("d", y))[0]


@programs(error=NotImplementedError)
def refused_and_caught(x):
    y = x * x
    try:
        return np.frombuffer(y)[0]
    except Exception:
        return 0.0


@programs()
def inner_derivatives_of_active_data(x):
    return np.sum(grad(lambda z: np.sum(z * x * z))(np.ones(2000)))


@programs()
def inner_tangents(x):
    return np.sum(jvp(lambda z: z * x, (x,), (np.ones(2000),))[1])


@programs(error=NestedDerivativeError)
def refused_inside(x):
    return build_rrule(np.sum)(CoDual(np.sum, NoFData()), CoDual(x, np.zeros(2000)))[0].primal


def by_grad(f):
    value_and_grad(f)(X.copy())


def by_vjp(f):
    y, pullback = vjp(f, X)
    pullback(np.ones_like(y))
    pullback(np.ones_like(y))


def by_vjp_without_pullback(f):
    vjp(f, X)


def by_rule(f):
    _, pullback = build_rrule(f)(CoDual(f, NoFData()), CoDual(X.copy(), np.zeros(2000)))
    pullback(1.0)


def by_rule_without_pullback(f):
    build_rrule(f)(CoDual(f, NoFData()), CoDual(X.copy(), np.zeros(2000)))


WAYS = [by_grad, by_vjp, by_vjp_without_pullback, by_rule, by_rule_without_pullback]


@contextmanager
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("program", "way"), rotating(programs, WAYS, times=2))
def test_nothing_is_left_to_the_cyclic_collector(program, way):
    expected = program.options.get("error", ())

    def run() -> None:
        with suppress(*([expected] if expected else [])):
            way(program.f)

    run()
    with without_collector():
        run()
        assert gc.collect() == 0


@pytest.mark.sampled(7)
@pytest.mark.parametrize("program", [p for p in programs if "error" not in p.options], ids=str)
def test_fifty_gradients_leave_memory_flat(program):
    with without_collector():
        tracemalloc.start()
        for _ in range(60):  # with those in which text of the whole function is made, and kept
            by_grad(program.f)
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(50):
            by_grad(program.f)
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert after - before < 2 * X.nbytes  # free lists of the interpreter fill up slowly


def test_arguments_and_results_die_at_once():
    with without_collector():
        x = X.copy()
        value, g = value_and_grad(in_place)(x)
        y, pullback = vjp(arrays, x)
        dead = [weakref.ref(a) for a in (x, g)]
        (dx,) = pullback(1.0)
        dead.append(weakref.ref(dx))
        del x, g, dx, pullback, y, value
        assert [r() for r in dead] == [None] * 3


def test_a_tuple_of_numbers_and_arrays_dies_at_once():
    def f(o: Any) -> Any:
        return o[0] * np.sum(o[1])

    for way in (grad(f), lambda o: jvp(f, (o,), ((1.0, X),)), lambda o: vjp(f, o)[1](1.0)):
        with without_collector():
            a = X.copy()
            way((2.0, a))
            dead = weakref.ref(a)
            del a
            assert dead() is None


@pytest.mark.thorough
def test_functions_that_come_and_go_leave_nothing_in_the_caches():
    def round_of(k: int) -> None:
        text = f"def f(x):\n    return np.sum(x * {k}) + (lambda z: np.sum(z))(x)\n"
        name = f"<short-lived {k}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        scope: dict[str, Any] = {"np": np}
        exec(compile(text, name, "exec"), scope)
        grad(scope["f"])(X)
        gone.append(weakref.ref(scope["f"]))
        gone.append(weakref.ref(scope["f"].__code__))
        del linecache.cache[name], scope["f"]

    gone: list[Any] = []
    round_of(0)
    entries, texts = len(load._entries), len(linecache.cache)
    for k in range(1, 200):
        round_of(k)
    gc.collect()
    assert [r() for r in gone] == [None] * len(gone)
    assert len(load._entries) <= entries
    assert len(linecache.cache) == texts
    assert len(source._files) <= 64


def test_closures_and_classes_made_in_a_loop_share_one_derived_form():
    def make(k: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
        class Scaled:
            def __call__(self, x):
                return np.sum(x * k)

        return (lambda x: np.sum(x * k)), Scaled()

    def run(k: float) -> list[Any]:
        found = make(k)
        for f in found:
            grad(f)(X)
        return [weakref.ref(f) for f in found]

    run(1.0)
    entries = len(load._entries)
    gone = [r for k in range(100) for r in run(float(k))]
    gc.collect()
    assert [r() for r in gone] == [None] * len(gone)
    assert len(load._entries) == entries
