"""State that callbacks of solvers find where no reference leads: through the interpreter, in C."""

from __future__ import annotations

import collections
import contextvars
import enum
import functools
import importlib
import itertools
import logging
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

from mooncake_py import (  # noqa: E402
    checkpoint,
    grad,
    hessian,
    implicit,
    jvp,
    value_and_grad,
    vjp,
)
from tests.support.pairs import rotating  # noqa: E402

Get = Callable[[], Any]


class Model:
    def __init__(self) -> None:
        self.square: Any = None
        self.calls = 0


CONFIG: Any = types.ModuleType("config_of_hidden_state")
MODEL = Model()


@pytest.fixture(autouse=True)
def module() -> Any:
    sys.modules[CONFIG.__name__] = CONFIG
    yield
    del sys.modules[CONFIG.__name__]


def by_reference(model: Model) -> Get:
    return weakref.ref(model)


def in_weak_dict(model: Model) -> Get:
    table = weakref.WeakValueDictionary(a=model)
    return lambda: table["a"]


def by_proxy(model: Model) -> Get:
    proxy = weakref.proxy(model)
    return lambda: proxy


def in_context(model: Model) -> Get:
    variable = contextvars.ContextVar("variable", default=model)
    variable.set(model)
    return lambda: variable.get()


def imported(model: Model) -> Get:
    CONFIG.model = model

    def get() -> Any:
        import config_of_hidden_state  # pyright: ignore[reportMissingImports]

        return config_of_hidden_state.model

    return get


def imported_by_name(model: Model) -> Get:
    CONFIG.model = model
    return lambda: importlib.import_module(CONFIG.__name__).model


def in_module(model: Model) -> Get:
    CONFIG.model = model
    return lambda: sys.modules["config_of_hidden_state"].model


def in_captured_module(model: Model) -> Get:
    CONFIG.model, module = model, CONFIG
    return lambda: module.model


def in_globals(model: Model) -> Get:
    global MODEL
    MODEL = model
    return lambda: globals()["MODEL"]


def in_annotations(model: Model) -> Get:
    def get() -> Any:
        return get.__annotations__["model"]

    get.__annotations__["model"] = model
    return get


def in_proxy_of_dict(model: Model) -> Get:
    proxy = types.MappingProxyType({"a": model})
    return lambda: proxy["a"]


def in_member(model: Model) -> Get:
    class Kind(enum.Enum):
        A = 1

    Kind.A.model = model  # type: ignore[attr-defined]
    return lambda: Kind.A.model  # type: ignore[attr-defined]


def in_metaclass(model: Model) -> Get:
    class Meta(type):
        @property
        def held(cls) -> Model:
            return model

    class Held(metaclass=Meta):
        pass

    return lambda: Held.held


def in_exception(model: Model) -> Get:
    error = ValueError(model)
    return lambda: error.args[0]


def in_cache(model: Model) -> Get:
    get = functools.lru_cache(3)(lambda: model)
    get()
    return get


def in_cycle(model: Model) -> Get:
    cycle = itertools.cycle([model])
    return lambda: next(cycle)


def of_calls(model: Model) -> Get:
    calls = iter(lambda: model, None)
    return lambda: next(calls)


def made_when_missing(model: Model) -> Get:
    table: Any = collections.defaultdict(lambda: model)
    return lambda: table["a"]


GETTERS = [by_reference, in_weak_dict, by_proxy, in_context, imported, imported_by_name, in_module,
           in_captured_module, in_globals, in_annotations, in_proxy_of_dict, in_member,
           in_metaclass, in_exception, in_cache, in_cycle, of_calls, made_when_missing]  # fmt: skip
SOLVERS: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda r: optimize.brentq(r, 0.5, 10, xtol=1e-13),
    "quad": lambda r: integrate.quad(r, 0, 1)[0],
    "fsolve": lambda r: optimize.fsolve(lambda x: [r(x[0])], [1.5], xtol=1e-13)[0],
    "odeint": lambda r: integrate.odeint(lambda y, t: r(t), 0.0, [0.0, 1.0], rtol=1e-9, atol=1e-9)[
        -1, 0
    ],
    "implicit": lambda r: implicit(lambda: optimize.brentq(r, 0.5, 10, xtol=1e-13), r)(),
}
RIGHT = {"brentq": 1.0, "fsolve": 1.0, "implicit": 1.0, "quad": -4.0, "odeint": -4.0}
MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: grad(f)(2.0),
    "debug": lambda f: grad(f, debug=True)(2.0),
    "compile": lambda f: grad(f, compile=True)(2.0),
    "vjp": lambda f: vjp(f, 2.0)[1](1.0)[0],
    "jvp": lambda f: jvp(f, (2.0,), (1.0,))[1],
    "checkpoint": lambda f: grad(lambda a: checkpoint(f, a))(2.0),
}


def lazily(get: Get, solver: str) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        def r(x: Any) -> Any:
            if get().square is None:
                get().square = a * a
            return x * x - get().square

        return SOLVERS[solver](r)

    return f


@pytest.mark.parametrize("make", GETTERS)
def test_data_made_in_the_first_call(make: Any) -> None:
    model = Model()
    f = lazily(make(model), "brentq")
    assert value_and_grad(f)(2.0) == pytest.approx((2.0, 1.0))
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(1.0)
    assert model.square is None


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s != "brentq"])
def test_solvers(solver: str) -> None:
    model = Model()
    for make in (by_reference, in_globals):
        assert grad(lazily(make(model), solver))(2.0) == pytest.approx(RIGHT[solver], rel=1e-5)
        assert model.square is None


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    model = Model()
    for make in (by_reference, in_module):
        assert MODES[mode](lazily(make(model), "brentq")) == pytest.approx(1.0)
        assert model.square is None


def test_second_derivatives() -> None:
    model = Model()
    assert hessian(lazily(by_reference(model), "quad"))(2.0) == pytest.approx(-2.0)
    assert model.square is None


@pytest.mark.parametrize("make", GETTERS)
def test_data_set_before_the_solver(make: Any) -> None:
    model = Model()
    get = make(model)

    def f(a: Any) -> Any:
        model.square = a * a
        return SOLVERS["brentq"](lambda x: x * x - get().square)

    assert grad(f)(2.0) == pytest.approx(1.0)
    assert model.square is None


@pytest.mark.parametrize(("make", "constant"), rotating(GETTERS, [False, True]))
def test_counts_are_those_of_a_plain_call(make: Any, constant: bool) -> None:
    model = Model()
    get = make(model)

    def f(a: Any) -> Any:
        def r(x: Any) -> Any:
            get().calls += 1
            return x * x - (4.0 if constant else a * a)

        return a * SOLVERS["brentq"](r) * get().calls

    right, model.calls = f(2.0), 0
    assert [value_and_grad(f)(2.0)[0] for _ in range(2)] == pytest.approx([right, right])
    assert model.calls == 0


def test_records_of_a_logger_and_context_variables() -> None:
    records: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record.getMessage())

    logger = logging.Logger("hidden", 10)
    logger.addHandler(Handler())
    count = contextvars.ContextVar("count", default=0)

    def f(a: Any) -> Any:
        def r(x: Any) -> Any:
            logger.debug("evaluated")
            count.set(count.get() + 1)
            return x * x - a

        return SOLVERS["brentq"](r) * len(records) * count.get()

    right = contextvars.copy_context().run(f, 2.0)
    records.clear()
    for _ in range(2):
        assert value_and_grad(f)(2.0)[0] == pytest.approx(right)
        assert (records, count.get()) == ([], 0)


def test_results_that_a_cache_keeps() -> None:
    made = [0]

    @functools.lru_cache
    def two() -> float:
        made[0] += 1
        return 2.0

    def f(a: Any) -> Any:
        return a * SOLVERS["brentq"](lambda x: x * x - two()) * made[0]

    for _ in range(2):
        assert value_and_grad(f)(1.7) == pytest.approx((1.7 * 2**0.5, 2**0.5))
        assert (made, two.cache_info().currsize) == ([0], 0)


def windows(a: Any) -> list[Callable[[], Any]]:
    held = np.array([a] * 500)
    cells = np.zeros(2, dtype=[("p", float)])
    cells["p"] = a
    flat, record, both = held.flat, cells[0], np.broadcast(held, 1.0)
    moved = iter([a] * 500)
    return [
        lambda: flat[0], lambda: record["p"], lambda: next(both)[0], lambda: next(moved),
        lambda: cells["p"][0],
    ]  # fmt: skip


@pytest.mark.parametrize("i", range(5))
def test_active_memory_behind_windows(i: int) -> None:
    def f(a: Any) -> Any:
        get = windows(a)[i]
        return optimize.brentq(lambda x: x * x - get(), 0.0, 5.0, xtol=1e-13)

    assert grad(f)(1.7) == pytest.approx(0.5 / 1.7**0.5)
    assert jvp(f, (1.7,), (1.0,))[1] == pytest.approx(0.5 / 1.7**0.5)


@pytest.mark.parametrize("name", ["__getitem__", "__missing__", "__call__", "__len__", "__lt__"])
def test_special_methods_that_capture_active_numbers(name: str) -> None:
    def f(a: Any) -> Any:
        held: list[Any] = []

        def method(self: Any, *args: Any) -> Any:
            held[:] = [a * a]
            return 1 if name in ("__len__", "__lt__") else a * a

        o = type("Table", (dict,), {name: method})()
        use = {"__getitem__": lambda: o[1], "__missing__": lambda: o[1], "__call__": lambda: o(),
               "__len__": lambda: len(o), "__lt__": lambda: o < 1}[name]  # fmt: skip

        def r(x: Any) -> Any:
            use()
            return x * x - held[0]

        return optimize.brentq(r, 0.0, 5.0, xtol=1e-13)

    assert grad(f)(1.7) == pytest.approx(1.0)


def captured(a: Any) -> list[Callable[[], Any]]:
    repeated, mapped = itertools.repeat(a), map(lambda _: a, itertools.count())  # noqa: C417
    pairs, values = zip(itertools.repeat(a), itertools.count(), strict=False), {"a": a}.values()
    proxy, error = types.MappingProxyType({"a": a}), ValueError(a)
    objects = np.array([a, None], dtype=object)
    return [
        lambda: next(repeated), lambda: next(mapped), lambda: next(pairs)[0], lambda: sum(values),
        lambda: proxy["a"], lambda: error.args[0], lambda: objects[0],
    ]  # fmt: skip


@pytest.mark.parametrize("i", range(7))
def test_active_numbers_that_no_plain_ones_can_replace(i: int) -> None:
    def f(a: Any) -> Any:
        get = captured(a)[i]
        return optimize.brentq(lambda x: x * x - get(), 0.0, 5.0, xtol=1e-13)

    assert grad(f)(1.7) == pytest.approx(0.5 / 1.7**0.5)
    assert jvp(f, (1.7,), (1.0,))[1] == pytest.approx(0.5 / 1.7**0.5)
