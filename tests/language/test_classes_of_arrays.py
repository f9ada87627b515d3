"""Classes of arrays written in Python: named signals, quaternions, units, as users write them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mooncake_py import (
    DerivativeDropError,
    checkpoint,
    debug_mode,
    grad,
    hessian,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from mooncake_py.testing import test_rule as check_rule
from tests.support.gradients import Program, Programs, check
from tests.support.marks import each_second

programs = Programs()
X = np.array([0.5, 1.2, 0.3, 0.7])


class Signal(np.ndarray):
    """An array with a name, and a scale that may be active."""

    name: str
    scale: Any

    def __new__(cls, x: Any, name: str = "signal", scale: Any = 1.0) -> Any:
        made = np.asarray(x).view(cls)
        made.name = name
        made.scale = scale
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.name = getattr(obj, "name", "none")
        self.scale = getattr(obj, "scale", 1.0)


CONSTANT = Signal(np.arange(4.0) + 1, "constant")


@programs(X)
def attributes_follow(x):
    s = Signal(x, "a")
    y = np.sin(s) + 2 * s
    assert type(y) is Signal
    assert y.name == "a"
    return (y * s).sum()


@programs(X)
def written_in_place(x):
    s = np.zeros(4).view(Signal)
    s[:] = x
    s[1] *= 2
    s += x
    part = s[2:]
    part[0] = part[1] * 3
    assert type(part) is Signal
    return np.sum(s**2)


@programs(X)
def memory_is_that_of_the_base(x):
    base = x * 1.0
    s = Signal(base)
    s[0] = base[1] * base[2]
    base[3] = s[0] * 2
    return (s * base).sum()


@programs(X)
def written_into_plain_arrays(x):
    s, y = Signal(x * x), np.zeros((2, 4))
    y[0] = s
    y[1, 1:3] = s[:2]
    y += s
    y[:, 0] *= s[1:3]
    np.copyto(y[1], s, where=[True, False, False, True])
    return np.sum(y * y)


@programs(X)
def active_attribute(x):
    s = Signal(CONSTANT, scale=x[0])
    return np.sum(s * s.scale).item() * (s + 1).scale


@programs(X)
def constant_beside_active_data(x):
    y = np.multiply(x, CONSTANT)
    z = x * CONSTANT
    assert type(y) is type(z) is Signal
    assert y.name == z.name == "constant"
    z += CONSTANT
    z -= x
    return (y.sum() + np.dot(z, z)).item()


@programs(X)
def iterated_and_unpacked(x):
    a, *rest = Signal(x)
    total = a * a
    for v in rest:
        total = total + v * v
    return total


@programs(X)
def functions_of_numpy(x):
    s = Signal(x, "s")
    c = np.concatenate([s, 2 * s])
    w = np.where(s > 0.6, s, 0 * s)
    m = np.mean(s.reshape(2, 2).T @ s.reshape(2, 2)) + np.max(s)
    n = np.linalg.norm(s) + np.var(s) + s.std() + s.cumsum()[-1] + s.T[0] + s.real.sum()
    return c.sum() * w.sum() * m + n + s.flat[1] + abs(-s).sum() + np.einsum("i,i->", s, s)


@programs(X)
def copies(x):
    s = Signal(x, "n")
    t, u, v = s.copy(), copy.copy(s), copy.deepcopy(s)
    t[0] = 0.0
    assert type(t) is type(u) is type(v) is Signal
    assert v.name == "n"
    return (t * u * v).sum()


class Quaternion(np.ndarray):
    """Four numbers, multiplied as quaternions are."""

    def __new__(cls, *parts: Any) -> Any:
        return np.array(parts[0] if len(parts) == 1 else parts, dtype=float).view(cls)

    def __mul__(self, other: Any) -> Any:  # type: ignore[override]
        if not isinstance(other, Quaternion):
            return (np.asarray(self) * other).view(Quaternion)
        w, x, y, z = self
        a, b, c, d = other
        return Quaternion(
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        )

    def __rmul__(self, number: Any) -> Any:  # type: ignore[override]
        return (number * np.asarray(self)).view(Quaternion)

    def __getitem__(self, i: Any) -> Any:
        return super().__getitem__(i)

    @property
    def conjugated(self) -> Any:
        found = self.copy()
        found[1:] *= -1
        return found

    def norm(self) -> Any:
        return np.sqrt(np.sum(np.asarray(self) ** 2))


@programs(X)
def rotation(x):
    q = Quaternion(x)
    q /= q.norm()
    r = q * Quaternion(0.0, 2.0, 0.5, -1.0) * q.conjugated
    return r[1] + 2 * r[2] * r[3] + r.norm()


@programs(X)
def operators_of_quaternions(x):
    q = Quaternion(*x)
    return (2.0 * q * q)[3] * (q * 3.0)[0] + (q + q)[1]


class Quantity(np.ndarray):
    """An array with a unit, which each ufunc computes along."""

    __array_priority__ = 10
    unit: str

    def __new__(cls, x: Any, unit: str = "") -> Any:
        made = np.array(x, dtype=float, copy=None, subok=True).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj: Any) -> None:
        if obj is not None:
            self.unit = getattr(obj, "unit", "")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        units = [getattr(v, "unit", "") for v in inputs]
        plain = [v.view(np.ndarray) if isinstance(v, Quantity) else v for v in inputs]
        out = options.get("out", ())
        if out:
            options["out"] = tuple(v.view(np.ndarray) for v in out)
        y = super().__array_ufunc__(ufunc, method, *plain, **options)
        if ufunc in (np.add, np.subtract) and method == "__call__" and units[0] != units[1]:
            raise ValueError(f"{units[0]} and {units[1]}")
        unit = "*".join(filter(None, units)) if ufunc is np.multiply else units[0]
        unit = f"{units[0]}/{units[1]}" if ufunc is np.divide else unit
        if out:
            out[0].unit = unit
            return out[0]
        return tuple(Quantity(v, unit) for v in y) if type(y) is tuple else Quantity(y, unit)

    @property
    def value(self) -> Any:
        return self.view(np.ndarray)


@programs(X)
def units_of_results(x):
    v = Quantity(x, "m") / Quantity([1.0, 2.0, 3.0, 4.0], "s")
    e = (v * v).sum()
    assert type(e) is Quantity
    assert e.unit == "m/s*m/s"
    return float(e.value)


@programs(X)
def units_in_place(x):
    d = Quantity(x, "m")
    d += Quantity(np.ones(4), "m")
    d *= 2.0
    return float(np.sum(d**2)) + np.mean(d).value


@programs(X)
def units_that_do_not_fit(x):
    d = Quantity(x, "m")
    try:
        d + Quantity(x, "s")
    except ValueError:
        return float(np.sqrt(d).max())
    return 0.0


@programs(X)
def functions_of_quantities(x):
    d = Quantity(x, "m")
    whole = np.modf(d)[0]
    joined = np.concatenate([d, d])
    assert not hasattr(joined, "unit")  # NumPy finalizes it with None
    total = float(joined.sum()) + float(np.clip(d, 0.4, 1.0).sum()) + float(np.diff(d).sum())
    steps = float(np.median(d)) + float(np.add.accumulate(d).sum()) + float(np.trapezoid(d))
    return total + steps + float(whole.sum() * np.multiply.outer(d, d).sum())


class Offset(np.ndarray):
    """Operators that go on to those of arrays."""

    def __mul__(self, other: Any) -> Any:  # type: ignore[override]
        return super().__mul__(other) + 1

    def __rsub__(self, other: Any) -> Any:  # type: ignore[override]
        return np.ndarray.__rsub__(self, other) * 2

    def __lt__(self, other: Any) -> Any:  # type: ignore[override]
        return super().__lt__(other)


@programs(X)
def operators_that_go_on(x):
    a, b = x.view(Offset), np.exp(x).view(Offset)
    chosen = (a * b)[a < b]
    return float((chosen - (1.0 - b) * (x - a * 0.5)).sum())


class Twice(np.ndarray):
    """Elements are twice as large when they are read, and a loop takes three times as much."""

    def __getitem__(self, i: Any) -> Any:
        return 2 * super().__getitem__(i)

    def __iter__(self) -> Any:
        return iter([3 * v for v in np.asarray(self)])


@programs(X)
def elements_read_by_the_class(x):
    t = (x * x).view(Twice)
    total = 0.0
    for i in range(4):
        total += t[i] * x[i]
    read = float(t[1:3].sum()) + next(reversed(t)) + sorted(t)[1]
    return total + read + sum(t) + min(t) * np.fromiter(t, float).sum()


@programs(X)
def slices_written_to_what_the_class_returns(x):
    t = (x * x).view(Twice)
    t[1:3] *= x[0]  # is written to a copy, which is what the class returns for a slice
    t[0] += x[1]
    t[-1] = t[0]
    return float(np.asarray(t).sum())


@programs(X)
def flat_elements(x):
    s = Signal(x * x)
    s.flat = 2 * x
    part = s.flat[1:3]
    assert type(part) is Signal
    return sum(v * v for v in s.flat) + s.flat[2] * part.sum().item()


class Scaling(np.ndarray):
    """What a ufunc returns is larger by a half."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(v) if isinstance(v, Scaling) else v for v in inputs]
        y = 1.5 * getattr(ufunc, method)(*plain, **options)
        return y.view(Scaling) if isinstance(y, np.ndarray) else y


@programs(X)
def methods_in_terms_of_ufuncs(x):
    s = x.view(Scaling)
    y = np.cumprod(s)[2] + s.cumsum()[3] + s.conj()[1] + np.mean(s) + s.max() + np.prod(s)
    return y + sum(s) + abs(s)[0] + (s[1:] @ s[:-1])


def test_a_function_that_asks_a_class_in_c_is_refused() -> None:
    with pytest.raises(DerivativeDropError, match="class Scaling"):
        grad(lambda x: x.view(Scaling).round(2).sum())(X)
    with pytest.raises(DerivativeDropError, match="class Scaling"):
        grad(lambda x: np.vectorize(lambda v: v * v)(x.view(Scaling)).sum())(X)


class Reflecting(np.ndarray):
    """Is asked before plain arrays and numbers of Python, not before numbers of NumPy."""

    def __radd__(self, other: Any) -> Any:
        return np.asarray(other) + 3 * np.asarray(self)


@programs(X)
def reflected_operators(x):
    r = x.view(Reflecting)
    plain = (x + r).sum() + (2.0 + r).sum() + (float(x[0]) + r).sum()
    of_scalars = (np.float64(2.0) + r) * (x[1] + r) + (x.sum() + r)
    return plain * of_scalars.sum().item()


class Counted(np.ndarray):
    """Counts how often it was computed with, and what was made of it."""

    calls = 0

    def __array_wrap__(self, a: Any, context: Any = None, return_scalar: bool = False) -> Any:
        y = super().__array_wrap__(a, context, return_scalar)
        y.calls = self.calls + 1
        return y


@programs(X)
def wrapped_results(x):
    y = np.sin(x.view(Counted)) * 2
    assert y.calls == 2
    return (y + 1).sum().item()


class Doubled(np.ndarray):
    """Sums are twice as large."""

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        y = super().__array_function__(f, types, args, kwargs)
        return 2 * y if f is np.sum else y


@programs(X)
def overridden_functions(x):
    d = x.view(Doubled)
    return np.sum(d) + np.mean(d) + np.dot(d, d)


class Summed(np.ndarray):
    """Keeps a number that is computed of the array that it is made of."""

    total: Any = 0.0

    def __array_finalize__(self, obj: Any) -> None:
        if type(obj) is np.ndarray:
            self.total = obj.sum()


@programs(X)
def computed_when_it_is_made(x):
    s = x.view(Summed)
    return s.total * s[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("program", each_second(programs), ids=str)
def test_forward_mode_and_second_order(program: Program) -> None:
    f, d = program.f, np.linspace(0.3, 1.1, 4)
    slope = jvp(f, (X,), (d,))[1]
    assert_allclose(slope, d @ grad(f)(X), rtol=1e-12)
    curvature = jvp(grad(f), (X,), (d,))[1]
    assert_allclose(curvature, hessian(f)(X) @ d, rtol=1e-10, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.without_modes("the value is a plain array inside another derivative")
@pytest.mark.parametrize("program", programs, ids=str)
def test_in_debug_mode_and_by_recomputing(program: Program) -> None:
    f, g = program.f, grad(program.f)(X)
    with debug_mode():
        assert_allclose(grad(f)(X), g)
    assert_allclose(grad(lambda x: checkpoint(f, x))(X), g)


@pytest.mark.sampled(2)
@pytest.mark.without_modes("the value is a plain array inside another derivative")
@pytest.mark.parametrize("program", programs, ids=str)
def test_compiled(program: Program) -> None:
    pytest.importorskip("llvmlite")
    assert_allclose(grad(program.f, compile=True)(X), grad(program.f)(X))


# Arguments of such classes.


def scaled(s: Any) -> Any:
    return (s * s * s.scale).sum() + np.sin(s)[0] * len(s.name)


@pytest.mark.without_modes("the value is a plain array inside another derivative")
def test_gradient_is_a_plain_array() -> None:
    s = Signal(X.copy(), "abc", 2.0)
    value, g = value_and_grad(scaled)(s)
    assert type(value) is Signal
    assert type(g) is np.ndarray
    assert_allclose(g, 4 * X + [3 * np.cos(0.5), 0, 0, 0])
    check_rule(scaled, s)


def test_derivatives_of_every_kind() -> None:
    s = Signal(X.copy(), "abc", 2.0)
    g = 4 * X + [3 * np.cos(0.5), 0, 0, 0]
    assert_allclose(jvp(scaled, (s,), (np.ones(4),))[1], g.sum())
    assert_allclose(jacobian(lambda s: s * s)(s), np.diag(2 * X))
    assert_allclose(hessian(scaled)(s), np.diag([4 - 3 * np.sin(0.5), 4, 4, 4]))
    assert_allclose(grad(lambda s: np.sum(grad(scaled)(s) ** 2))(s), 2 * hessian(scaled)(s) @ g)
    assert_allclose(grad(scaled, mode="forward")(s), g)
    y, pullback = vjp(lambda s: s * s.scale, s)
    assert type(y) is Signal
    assert y.name == "abc"
    assert_array_equal(pullback(np.ones(4))[0], np.full(4, 2.0))


class Raising(np.ndarray):
    """Adds to what is written, and refuses to be copied."""

    def __setitem__(self, i: Any, v: Any) -> None:
        super().__setitem__(i, v + 0.5)

    def copy(self, *args: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("size", [4, 400])
def test_writes_are_undone_past_the_methods_of_the_class(size: int) -> None:
    own = Raising(size)  # its memory is its own
    np.asarray(own)[:] = 1.0

    def f(x: Any) -> Any:
        for k in range(4):
            own[k] = x[k] * 2
        own[:] = own * own
        return np.sum(np.asarray(own))

    assert_allclose(grad(f)(X), 4 * (2 * X + 0.5))
    assert_array_equal(np.asarray(own), np.ones(size))
    _, pullback = vjp(f, X)
    assert_array_equal(pullback(1.0)[0], pullback(1.0)[0])
    assert_allclose(grad(lambda x: checkpoint(f, x))(X), 4 * (2 * X + 0.5))
    assert_array_equal(np.asarray(own), np.ones(size))


def test_state_of_the_argument_is_restored() -> None:
    s = Signal(X.copy(), "abc")

    def f(s: Any) -> Any:
        s[0] = 3.0
        s.name = "longer"
        s *= 2
        return (s * s).sum() * len(s.name)

    assert_allclose(grad(f)(s), 48 * X * [0, 1, 1, 1])
    assert_array_equal(np.asarray(s), X)
    assert s.name == "abc"


def test_an_argument_is_a_variable_of_its_own() -> None:
    s = Signal(X.copy())
    assert_allclose(grad(lambda v: np.sum(v * s))(s), X)
    both = grad(lambda a, b: np.sum(a * b), argnums=(0, 1))(s, s[1:2])
    assert_allclose(both[0], np.full(4, X[1]))
    assert_allclose(both[1], [X.sum()])
    g = grad(lambda v: (v[1:] * 2).sum() + v.T[0])(s[::-1])
    assert_array_equal(g, [1.0, 2.0, 2.0, 2.0])


def test_parts_of_arguments_and_of_results() -> None:
    a, b = Signal(X.copy()), Signal(2 * X)
    g = grad(lambda d: (d["a"] * d["b"]).sum())({"a": a, "b": b})
    assert_allclose(g["a"], 2 * X)
    assert type(g["b"]) is np.ndarray
    (_, aux), _ = value_and_grad(lambda s: (s.sum(), {"s": s * 2}), has_aux=True)(a)
    assert type(aux["s"]) is Signal


def test_finalizing_that_cannot_be_followed_is_refused() -> None:
    class Slotted(np.ndarray):
        __slots__ = ("total",)

        def __array_finalize__(self, obj: Any) -> None:
            self.total = obj.sum()

    with pytest.raises(DerivativeDropError, match="class Slotted cannot be made of active data"):
        grad(lambda x: x.view(Slotted).total)(X)


def test_every_argument_of_a_function_may_be_of_a_class() -> None:
    check(lambda x, y: np.sum(Signal(x) * Quantity(y, "m")).value.item(), X, X + 1)
