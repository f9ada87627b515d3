"""The context managers of `contextlib`, against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B018, PIE, PT, RET, RUF, SIM, UP

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from mooncake_py import grad, jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs(X)
def exst(x):
    y = x.copy()
    with contextlib.ExitStack() as st:
        st.callback(lambda: y.__setitem__(0, y[1] * 2))
        st.callback(np.multiply, y, 2.0, out=y)
        y[2] = y[0] * y[0]
    return (y * y).sum()


@programs(X)
def exst2(x):
    log = []

    @contextlib.contextmanager
    def cm(v):
        yield (v * v)
        log.append(v * 3)

    with contextlib.ExitStack() as st:
        a = st.enter_context(cm(x[0]))
        b = st.enter_context(cm(x[1]))
    return a * b + log[0] * log[1]


@programs(X)
def exst_push(x):
    r = []

    def ex(*exc):
        r.append(x[0] * x[1])
        return True

    with contextlib.ExitStack() as st:
        st.push(ex)
        raise ValueError
    return r[0]


@programs(X)
def exst_popall(x):
    r = []
    with contextlib.ExitStack() as st:
        st.callback(r.append, x[0] * 2)
        keep = st.pop_all()
    n = len(r)
    keep.close()
    return r[0] * (n + 1)


@programs(X)
def supp(x):
    y = x[0]
    with contextlib.suppress(ZeroDivisionError):
        y = y * 2
        1 / 0
        y = y * 100
    return y


@programs(X)
def nullc(x):
    with contextlib.nullcontext(x * x) as z:
        return z.sum()


@programs(X)
def redir(x):
    s = io.StringIO()
    with contextlib.redirect_stdout(s):
        print(x[0])
        y = x[0] * x[1]
    return y * len(s.getvalue()[:3])


class Cl:
    def __init__(self, v):
        self.v = v
        self.out = []

    def close(self):
        self.out.append(self.v * self.v)


@programs(X)
def closing(x):
    c = Cl(x[0])
    with contextlib.closing(c) as k:
        a = k.v * 2
    return a + c.out[0]


@programs(X)
def cdeco(x):
    r = []

    class cm(contextlib.ContextDecorator):
        def __enter__(self):
            r.append(x[0] * 2)
            return self

        def __exit__(self, *a):
            r.append(x[1] * 3)
            return False

    @cm()
    def f(v):
        return v * v

    return f(x[2]) * r[0] * r[1]


@programs(X)
def cmdeco(x):
    r = []

    @contextlib.contextmanager
    def cm():
        r.append(x[0] * 2)
        yield
        r.append(x[1] ** 2)

    @cm()
    def f(v):
        return v * v

    return f(x[2]) * f(x[0]) * sum(r)


# Python's floats, which quick forms compute with, do not underflow with an error.


def tiny(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * 1e-200 * 1e-200
    return s


@programs(X)
def errors_of_numpy_in_a_loop(x):
    try:
        with np.errstate(all="raise"):
            s = tiny(x)
    except FloatingPointError:
        s = x[0] * 3.0
    return s + tiny(x)


@programs(X)
def errors_of_numpy_in_an_expression(x):
    try:
        with np.errstate(under="raise"):
            s = x[0] * 1e-200 * 1e-200
    except FloatingPointError:
        s = x[1] * x[2]
    return s + np.sum(x)


@programs(X)
def errors_of_numpy_in_a_condition(x):
    s = 0.0
    with np.errstate(over="raise"):
        try:
            for i in range(3):
                s += x[i]
                if abs(x[i]) * 1e300 * 1e300 > 1.0:
                    s *= 2.0
        except FloatingPointError:
            s *= x[2]
    return s


@np.errstate(under="raise")
def strict(x):
    return x[0] * 1e-200 * 1e-200


@programs(X)
def errors_of_numpy_by_a_decorator(x):
    try:
        return strict(x)
    except FloatingPointError:
        return x[1] * x[2] + x[0] * 1e-200 * 1e-200


@programs(X)
def errors_of_numpy_by_a_setting(x):
    before = np.seterr(under="raise")
    try:
        s = tiny(x)
    except FloatingPointError:
        s = x[1] * 2.0
    finally:
        np.seterr(**before)
    return s + tiny(x)


@programs(X)
def errors_of_numpy_by_a_stack_and_by_hand(x):
    s = x[0] * x[1]
    state = np.errstate(under="raise")
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(under="raise"))
        try:
            s *= x[0] * 1e-200 * 1e-200
        except FloatingPointError:
            s *= 3.0
    state.__enter__()
    try:
        s *= x[0] * 1e-200 * 1e-200
    except FloatingPointError:
        s *= x[2]
    finally:
        state.__exit__(None, None, None)
    return s


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.parametrize(
    "f", [errors_of_numpy_in_a_loop, errors_of_numpy_in_a_condition, errors_of_numpy_by_a_setting]
)
def test_settings_of_numpy_hold_in_forward_mode_too(f):
    y, dy = jvp(f, (X,), (np.ones(3),))
    assert y == f(X)
    assert dy == pytest.approx(np.sum(grad(f)(X)))
