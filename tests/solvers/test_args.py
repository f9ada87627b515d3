"""What `args=` passes on to the user's function: objects as they are, of whatever class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from tests.support.pairs import rotating

si: Any = pytest.importorskip("scipy.integrate")
so: Any = pytest.importorskip("scipy.optimize")

A = np.array([0.3, 0.9, 1.4])


class Converted:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.held, dtype=dtype)

    @property
    def half(self) -> Any:
        return self.held / 2


class Scaling(np.ndarray):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([np.asarray(i) * 0.9 if isinstance(i, Scaling) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **kw)


OBJECTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "converted": (Converted(A), lambda a: a.half),
    "of an array": (A.view(Scaling), lambda a: a * 1.0),
    "Row": (type("Row", (list,), {"third": 0.4})(A), lambda a: a.third * np.array(a)),
}
ONES = np.ones(3)
SOLVERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "quad": lambda x, a, g: si.quad(lambda t, a: np.sum(np.cos(g(a) * t)), 0.0, x, args=(a,))[0],
    "solve_ivp": lambda x, a, g: si.solve_ivp(
        lambda t, y, a: -g(a) * y, (0.0, 1.0), ONES * x, args=(a,), rtol=1e-8
    ).y[:, -1].sum(),
    "odeint": lambda x, a, g: si.odeint(
        lambda y, t, a: -g(a) * y, ONES * x, [0.0, 1.0], args=(a,)
    )[-1].sum(),
    "brentq": lambda x, a, g: so.brentq(lambda z, a: z**3 - np.sum(g(a)) * x, -5.0, 5.0, args=(a,)),
    "newton": lambda x, a, g: so.newton(lambda z, a: z**3 - np.sum(g(a)) * x, 1.0, args=(a,)),
    "root": lambda x, a, g: so.root(lambda z, a: z**3 + z - g(a) * x, ONES, args=(a,)).x.sum(),
    "fsolve": lambda x, a, g: so.fsolve(lambda z, a: z**3 + z - g(a) * x, ONES, args=(a,)).sum(),
    "minimize": lambda x, a, g: so.minimize(
        lambda z, a: np.sum((z - g(a) * x) ** 2), ONES, args=(a,)
    ).x.sum(),
    "minimize_scalar": lambda x, a, g: so.minimize_scalar(
        lambda z, a: np.sum((z - g(a) * x) ** 2), args=(a,)
    ).x,
    "least_squares": lambda x, a, g: so.least_squares(
        lambda z, a: z - g(a) * x, ONES, args=(a,)
    ).x.sum(),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("solver", "kind"), rotating(SOLVERS, OBJECTS, times=2))
def test_the_function_is_given_the_object_itself(solver: str, kind: str) -> None:
    a, read = OBJECTS[kind]

    def f(x: Any) -> Any:
        return SOLVERS[solver](x, a, read)

    value, slope = value_and_grad(f)(0.7)
    np.testing.assert_allclose(value, f(0.7), rtol=1e-6)
    difference = (f(0.7 + 1e-4) - f(0.7 - 1e-4)) / 2e-4
    np.testing.assert_allclose(slope, difference, rtol=2e-4)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], slope, rtol=1e-6)
