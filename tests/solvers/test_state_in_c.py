"""State of callbacks that classes in C keep: ``o.__class__``, defaults, exceptions, layouts."""

from __future__ import annotations

import abc
import ctypes
import decimal
import functools
from collections import deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, jvp, value_and_grad
from mooncake_py.errors import MooncakeError
from tests.support.pairs import rotating

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")

State = tuple[Callable[[], Any], Callable[[], Any]]
STATES: dict[str, Callable[[], State]] = {}


def state(make: Callable[[], State]) -> Callable[[], State]:
    """Collect what makes a function that changes something, and one that reads it as a number."""
    STATES[make.__name__] = make
    return make


class Idle:
    busy = 0


class Busy(Idle):
    busy = 1


@state
def class_of_an_object() -> State:
    o = Idle()

    def tick():
        o.__class__ = Busy if type(o) is Idle else Idle

    return tick, lambda: o.busy


@state
def class_and_slots() -> State:
    class One:
        __slots__ = ("n",)

    class Other:
        __slots__ = ("n",)

    o: Any = One()
    o.n = 0

    def tick():
        o.__class__ = Other if type(o) is One else One
        o.n += 1

    return tick, lambda: o.n + (type(o) is Other)


@state
def dict_of_an_object() -> State:
    o: Any = Idle()
    o.n, held = 0, vars(o)

    def tick():
        o.__dict__ = {"n": o.n + 1}

    return tick, lambda: o.n + (vars(o) is held)


@state
def defaults() -> State:
    def counted(n=0):
        return n

    def tick():
        counted.__defaults__ = (counted() + 1,)

    return tick, counted


@state
def defaults_by_setattr() -> State:
    def counted(*, n=0):
        return n

    def tick():
        setattr(counted, "__kwdefaults__", {"n": counted() + 1})  # noqa: B010

    return tick, counted


@state
def defaults_by_descriptor() -> State:
    def counted(n=0):
        return n

    descriptor = FunctionType.__dict__["__defaults__"]

    def tick():
        descriptor.__set__(counted, (counted() + 1,))

    return tick, counted


@state
def name_of_a_class() -> State:
    class C:
        pass

    def tick():
        C.__name__ += "a"

    return tick, lambda: len(C.__name__)


@state
def operator_of_a_class() -> State:
    class C:
        def __len__(self):
            return 1

    def one(self):
        return 1

    def two(self):
        return 2

    o: Any = C()

    def tick():
        C.__len__ = two if len(o) == 1 else one

    return tick, lambda: len(o)


@state
def arguments_of_an_exception() -> State:
    error = ValueError(0)

    def tick():
        error.args = (error.args[0] + 1,)

    return tick, lambda: error.args[0]


@state
def cause_of_an_exception() -> State:
    error = ValueError(0)

    def tick():
        error.__cause__ = KeyError(error.__cause__.args[0] + 1 if error.__cause__ else 1)

    return tick, lambda: error.__cause__.args[0] if error.__cause__ else 0


@state
def exception_raised_again() -> State:
    error = ValueError(0)

    def tick():
        try:
            raise error from KeyError(error.__cause__.args[0] + 1 if error.__cause__ else 1)
        except ValueError:
            pass

    return tick, lambda: error.__cause__.args[0] if error.__cause__ else 0


@state
def exception_initialized_again() -> State:
    error = ValueError(0)

    def tick():
        error.__init__(error.args[0] + 1)

    return tick, lambda: error.args[0]


@state
def notes_of_an_exception() -> State:
    error = ValueError(0)

    def tick():
        error.add_note("a")

    return tick, lambda: len(getattr(error, "__notes__", ()))


@state
def shape() -> State:
    a = np.arange(4.0)

    def tick():
        a.shape = (2, 2) if a.ndim == 1 else (4,)

    return tick, lambda: a.ndim


@state
def shape_and_elements() -> State:
    a = np.zeros(4)

    def tick():
        a.shape = (2, 2) if a.ndim == 1 else (4,)
        a[0] += 1

    return tick, lambda: a.ndim + a.sum()


@state
def flag() -> State:
    a = np.zeros(4)

    def tick():
        a.flags.writeable = not a.flags.writeable

    return tick, lambda: int(a.flags.writeable)


@state
def locked_after_a_write() -> State:
    a = np.zeros(4)

    def tick():
        if a.flags.writeable:
            a[0] += 1
            a.setflags(write=False)

    return tick, lambda: a[0] + a.flags.writeable


@state
def partial_function() -> State:
    f: Any = functools.partial(int, 0)

    def tick():
        f.__setstate__((int, (f.args[0] + 1,), {}, None))

    return tick, lambda: f()


@state
def wrapper() -> State:
    def a():
        pass

    def b():
        pass

    b.n = 0

    def tick():
        b.n += 1
        functools.update_wrapper(a, b)

    return tick, lambda: getattr(a, "n", 0)


@state
def longest_size() -> State:
    d = deque([1], maxlen=3)

    def tick():
        d.__init__(list(d), d.maxlen + 1)

    return tick, lambda: d.maxlen


@state
def list_initialized_again() -> State:
    held = [1]

    def tick():
        held.__init__([*held, 1])

    return tick, lambda: len(held)


@state
def context_of_decimals() -> State:
    decimal.getcontext().prec = 28

    def tick():
        decimal.getcontext().prec += 1

    return tick, lambda: decimal.getcontext().prec


@state
def context_of_decimals_that_is_held() -> State:
    context = decimal.Context()

    def tick():
        context.traps[decimal.Inexact] = not context.traps[decimal.Inexact]

    return tick, lambda: int(context.traps[decimal.Inexact])


@state
def names_of_fields() -> State:
    a = np.zeros(2, [("n", float)])

    def tick():
        a.dtype.names = ("a" + a.dtype.names[0],)

    return tick, lambda: len(a.dtype.names[0])


@state
def errors_of_numpy() -> State:
    np.seterr(over="warn")

    def tick():
        np.seterr(over="ignore" if np.geterr()["over"] == "warn" else "warn")

    return tick, lambda: int(np.geterr()["over"] == "warn")


@state
def memory_of_c() -> State:
    c = ctypes.c_double(0)

    def tick():
        c.value += 1

    return tick, lambda: c.value


@state
def virtual_subclass() -> State:
    class A(abc.ABC):  # noqa: B024
        pass

    def tick():
        A.register(Idle)

    return tick, lambda: int(issubclass(Idle, A))


@state
def list_made_by_the_callback() -> State:
    o: Any = Idle()

    def tick():
        if not hasattr(o, "log"):
            o.log = []
        o.log.append(1)

    return tick, lambda: len(getattr(o, "log", ()))


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda g: integrate.quad(g, 0, 1)[0],
    "brentq": lambda g: optimize.brentq(lambda t: g(t) - 0.7, -3, 3),
}


@pytest.fixture(autouse=True)
def settings():
    """Put settings of the process back."""
    with decimal.localcontext(), np.errstate():
        yield


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize(("name", "solver"), rotating(STATES, SOLVERS, times=2))
def test_state_that_classes_in_c_keep(name: str, solver: str) -> None:
    def made() -> Any:
        tick, read = STATES[name]()

        def f(x):
            def g(t):
                tick()
                return x * t

            return SOLVERS[solver](g) + read()

        return f, read

    expected, slope = made()[0](1.5), 0.5 if solver == "quad" else -0.7 / 1.5**2
    for derive in (
        lambda f: value_and_grad(f)(1.5),
        lambda f: jvp(f, (1.5,), (1.0,)),
        lambda f: value_and_grad(lambda x: checkpoint(f, x))(1.5),
    ):
        f, read = made()
        before = read()
        value, found = derive(f)
        assert value == pytest.approx(expected)
        assert found == pytest.approx(slope)
        assert read() == before


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize("name", ["arguments_of_an_exception", "defaults", "wrapper", "shape"])
def test_it_is_put_back_in_debug_mode_and_in_inner_derivatives(name: str) -> None:
    for derive in (
        lambda f: value_and_grad(f, debug=True)(1.5),
        lambda f: value_and_grad(lambda x: value_and_grad(f)(x)[0])(1.5),
    ):
        tick, read = STATES[name]()
        before = read()

        def f(x, tick=tick, read=read):
            def g(t):
                tick()
                return x * t

            return integrate.quad(g, 0, 1)[0] + read()

        value, slope = derive(f)
        plain_tick, plain_read = STATES[name]()
        assert value == f(1.5, plain_tick, plain_read)
        assert slope == pytest.approx(0.5)
        assert read() == before


@pytest.mark.parametrize("name", ["strides", "dtype"])
def test_other_layouts_are_refused(name: str) -> None:
    def f(x):
        a = np.zeros((3, 3))

        def g(t):
            setattr(a, name, (8, 24) if name == "strides" else np.int64)
            return x * t

        return integrate.quad(g, 0, 1)[0] + a.strides[0]

    with pytest.raises(MooncakeError, match="setting the attribute"):
        value_and_grad(f)(1.5)
