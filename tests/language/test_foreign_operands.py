"""Functions of NumPy given operands that are no arrays: whose code runs is what NumPy decides."""

from __future__ import annotations

import array
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse, special

from mooncake_py import MooncakeError, checkpoint, grad, hvp, jvp, value_and_grad, vjp

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

X = np.array([0.7, 1.3, -0.4])
A = np.array([2.0, 3.0, 5.0])
SERIES, DATA = pd.Series(A), xr.DataArray(A, dims="t")
TABLE = pd.DataFrame({"a": A, "b": 2 * A})
SPARSE = sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))


class Holder:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __mul__(self, factor: Any) -> Any:
        return Holder(self.values * factor)

    __rmul__ = __mul__


class Converted:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.v, dtype=dtype)


class Quantity(Converted):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([i.v * 7 if isinstance(i, Quantity) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **kw)


class Unconverted:
    """It takes over ufuncs, and nothing else."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([i.v * 7 if isinstance(i, Unconverted) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **kw)


class Larger(Quantity):
    """A subclass, which is asked first."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        inputs = tuple([i.v * 11 if isinstance(i, Quantity) else i for i in inputs])
        return getattr(ufunc, method)(*inputs, **kw)


class Wrapped(Converted):
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*[a.v * 7 if isinstance(a, Wrapped) else a for a in args], **kwargs)


class Declining:
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented


class Doubling(Converted):
    def __array_wrap__(self, a: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return Doubling(a * 2)


class Reflected(Converted):
    __array_priority__ = 100

    def __rmul__(self, other: Any) -> Any:
        return 100 * other * self.v


class Refusing:
    __array_ufunc__ = None

    def __rmul__(self, other: Any) -> Any:
        return 5 * other


class Number(float):
    def __mul__(self, other: Any) -> Any:
        return 100.0

    __rmul__ = __mul__


HOLDER: Any = Holder(3.0)
QUANTITY: Any = Quantity(A)
WRAPPED: Any = Wrapped(A)
CONVERTED: Any = Converted(A)


def written_by_mask(x: Any) -> Any:
    y = np.zeros(3)
    np.copyto(y, x, where=SERIES > 2)
    return np.sum(y**2)


def computed_by_mask(x: Any) -> Any:
    y = np.zeros(3)
    np.multiply(x, A, out=y, where=SERIES > 2)
    return np.sum(y**2)


def put_into(x: Any) -> Any:
    y = x * 1.0
    np.put(y, [0, 1], QUANTITY)
    np.place(y, y > 2, QUANTITY)
    return np.sum(y**2)


def written_into(x: Any) -> Any:
    y = np.zeros(3)
    np.multiply(x, QUANTITY, out=y)
    np.add.at(y, [0, 1, 0], QUANTITY)
    return np.sum(y**2)


RIGHT = {
    "maximum of a DataArray": lambda x: float(np.maximum(DATA, 20 * x).sum()),
    "mean of an active DataArray": lambda x: float(np.mean(DATA * x[0])),
    "ufunc of a sparse matrix": lambda x: np.multiply(SPARSE, x[0]).toarray().sum(),
    "ufunc of an object": lambda x: np.multiply(HOLDER, x[0]).values,
    "elements with an object": lambda x: np.multiply(x, HOLDER)[1].values,
    "outer of an object": lambda x: np.multiply.outer(x, HOLDER)[1].values,
    "fraction": lambda x: np.multiply(x, Fraction(1, 2)).sum(),
    "power of a fraction": lambda x: np.power(Fraction(1, 2), x).sum(),
    "larger of a fraction": lambda x: np.maximum(x[1], Fraction(1, 2)) ** 2,
    "fraction compared": lambda x: np.where(np.less(x, Fraction(1, 2)), x, 2 * x).sum(),
    "outer of a quantity": lambda x: np.multiply.outer(x, QUANTITY).sum(),
    "matmul of a quantity": lambda x: np.matmul(x, QUANTITY),
    "reduce of a quantity": lambda x: np.add.reduce(Quantity(x)),
    "accumulate": lambda x: np.multiply.accumulate(Quantity(x)).sum(),
    "reduceat": lambda x: np.add.reduceat(Quantity(x), [0, 2])[0],
    "special of a quantity": lambda x: special.xlogy(QUANTITY, x * x).sum(),
    "clip of an array": lambda x: np.clip(x, 0, Unconverted(A)).sum(),
    "clip by the method": lambda x: x.clip(Unconverted(-A), 1.0).sum(),
    "subclass first": lambda x: np.multiply(Quantity(x), Larger(A)).sum(),
    "written into": written_into,
    "dot of what takes functions": lambda x: np.dot(x, WRAPPED),
    "interp of what takes functions": lambda x: np.interp(x, [-1, 0, 2.0], WRAPPED).sum(),
    "where of a series": lambda x: np.where(SERIES > 2, x, SERIES).sum(),
    "joined with a series": lambda x: np.concatenate([x, SERIES]).sum(),
    "stacked with a DataArray": lambda x: np.stack([x, DATA])[0, 1],
    "solution for a series": lambda x: np.linalg.solve(np.eye(3) * x[0], SERIES).sum(),
    "solution of SciPy": lambda x: linalg.solve(np.eye(3) * x[0], SERIES).sum(),
    "dot of a series": lambda x: np.dot(x, SERIES),
    "no operator": lambda x: np.multiply(x, Reflected(A)).sum(),
    "wrapped": lambda x: np.multiply(x, Doubling(A)).v.sum(),
    "number past its methods": lambda x: np.multiply(x, Number(3.0)).sum(),
    "buffer": lambda x: np.multiply(x, array.array("d", A)).sum(),
    "mask of pandas for copies": written_by_mask,
    "put and place": put_into,
    "converted in a list": lambda x: np.array([Converted(x), Converted(2 * x)]).sum(),
}
OF_A_SPARSE_MATRIX = {
    "conj": lambda x: np.conj(SPARSE * x[0]).toarray().sum(),
    "absolute": lambda x: np.abs(SPARSE * x[0]).toarray().sum(),
    "sqrt": lambda x: np.sqrt(SPARSE * x[0]).toarray().sum(),
    "real": lambda x: np.real(SPARSE * x[0]).toarray().sum(),
    "sum": lambda x: np.sum(SPARSE * x[0]),
    "sum along an axis": lambda x: np.asarray(np.sum(SPARSE * x[0], axis=0)).sum(),
    "mean": lambda x: np.mean(SPARSE * x[0]),
    "max": lambda x: np.max(SPARSE * x[0]),
    "square": lambda x: np.square(SPARSE * x[0]).toarray().sum(),
}
REFUSED = {
    "mask of a series": (computed_by_mask, r"pandas\.Series.*to_numpy"),
    "ufunc of a series": (lambda x: np.multiply(SERIES, x).sum(), r"pandas\.Series.*to_numpy"),
    "ufunc of a table": (lambda x: np.multiply(TABLE, x[0]).sum().sum(), r"pandas\.DataFrame"),
    "clip of a series": (lambda x: np.clip(SERIES, 0, x[0]).sum(), "pandas.*to_numpy"),
    "write of a series": (lambda x: np.multiply(x, SERIES, out=x * 1.0).sum(), r"pandas\.Series"),
    "at": (lambda x: np.add.at(x * 1.0, [0, 1, 0], SERIES), r"pandas\.Series"),
    "matmul of a series": (lambda x: np.matmul(x, SERIES), r"pandas\.Series"),
    "special of a series": (lambda x: special.xlogy(SERIES, x * x).sum(), r"pandas\.Series"),
    "dot of a sparse matrix": (lambda x: np.dot(SPARSE, x[0]).sum(), r"csr_matrix.*toarray"),
    "no loop for objects": (lambda x: np.add.reduce([x[0], HOLDER]), "Holder"),
    "solution of its own": (lambda x: np.linalg.solve(np.eye(3), Doubling(x)), "Doubling"),
    "eval": (lambda x: evaluated(x[0]), "by their names"),
}
RAISING = {
    "refusing ufuncs": lambda x: np.multiply(x, Refusing()),
    "no magnitude by a product": lambda x: np.add(x, Decimal(1)),
    "no implementation": lambda x: np.stack([x, Declining()]),
}


def evaluated(k: Any) -> Any:
    return TABLE.eval("a * @k").sum()


def differences(f: Any) -> Any:
    steps = 1e-5 * np.eye(3)
    return np.array([(float(f(X + h)) - float(f(X - h))) / 2e-5 for h in steps])


NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if "DataArray" in name else name
    for name in (*RIGHT, *OF_A_SPARSE_MATRIX)
]  # xarray has much code


@pytest.mark.parametrize("name", NAMES)
def test_value_and_derivative_are_those_of_the_plain_call(name: str) -> None:
    f: Any = {**RIGHT, **OF_A_SPARSE_MATRIX}[name]
    plain, expected = f(X.copy()), differences(f)
    for debug in (False, True):
        value, found = value_and_grad(f, debug=debug)(X.copy())
        assert type(value) is type(plain)
        np.testing.assert_allclose(value, plain, rtol=1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-8)
    v = np.array([1.0, 0.5, -2.0])
    value, slope = jvp(f, (X.copy(),), (v,))
    assert type(value) is type(plain)
    np.testing.assert_allclose(float(slope), expected @ v, atol=1e-7)
    found = grad(lambda x: checkpoint(f, x) * 1.0)(X.copy())
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("name", ["ufunc of an object", "matmul of a quantity", "subclass first"])
def test_second_derivatives(name: str) -> None:
    f = RIGHT[name]
    found = hvp(lambda x: f(x) ** 2, (X,), A)
    g = differences(f)
    np.testing.assert_allclose(found, 2 * g * (g @ A), rtol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_other_operands_are_refused_by_name(name: str) -> None:
    f, words = REFUSED[name]
    for derivative in (grad(f), grad(f, debug=True), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(MooncakeError, match=f"(?s){words}"):
            derivative(X.copy())


@pytest.mark.parametrize("name", RAISING)
def test_what_the_plain_call_raises(name: str) -> None:
    f: Any = RAISING[name]
    with pytest.raises(Exception, match=r".") as plain:
        f(X)
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(plain.type):
            derivative(X.copy())


def test_constants_are_left_to_numpy() -> None:
    def f(x: Any) -> Any:
        y = np.clip(SERIES, 0, 3), np.multiply(SERIES, 2), np.sqrt(SPARSE)
        assert [type(v) for v in y] == [pd.Series, pd.Series, sparse.csr_matrix]
        return x[0] * y[0].sum() * y[2].sum()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(grad(f)(X), differences(f), atol=1e-8)
        np.testing.assert_allclose(jvp(f, (X,), (A,))[1], differences(f) @ A, rtol=1e-8)


def test_a_loop_with_a_foreign_constant_stays_quick() -> None:
    """Such a constant does not make the engine look at the operands of all later calls."""

    def f(x: Any) -> Any:
        np.multiply(2.0, HOLDER)
        np.dot(x, CONVERTED)
        return np.sum(x)

    from mooncake_py.modes.reverse.context import ReverseContext

    met = []
    original = ReverseContext.call

    def call(self: Any, g: Any, /, *args: Any, **kwargs: Any) -> Any:
        met.append(self.watches)
        return original(self, g, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseContext, "call", call)
        grad(f)(X)
    assert met
    assert not any(met)


CALLS = [0]


class Counting(np.float64):
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        CALLS[0] += 1
        return ufunc(*[0.8 if i is self else i for i in inputs]) * 0.9


NUMBER = Counting(0.75)


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.multiply(x, NUMBER)) + 0.01 * CALLS[0],
    lambda x: np.sum(x * NUMBER) + 0.01 * CALLS[0],
    lambda x: np.sum(np.add.outer(NUMBER, x)) + 0.01 * CALLS[0],
])  # fmt: skip
def test_a_number_of_numpy_may_take_ufuncs_over_and_count(f: Any) -> None:
    CALLS[0] = 0
    value = f(X)
    h = 1e-6 * np.eye(3)
    slopes = []
    for e in h:
        CALLS[0] = 0
        up = f(X + e)
        CALLS[0] = 0
        slopes.append((up - f(X - e)) / 2e-6)
    CALLS[0] = 0
    for debug in (False, True):
        found, g = value_and_grad(f, debug=debug)(X)
        assert (found, CALLS[0]) == (value, 0)
        np.testing.assert_allclose(g, slopes, rtol=1e-7)
    assert jvp(f, (X,), (np.ones(3),))[0] == value
    assert CALLS[0] == 0


class Whole(int):
    """A subclass of int: NumPy takes its instances for scalars, not for numbers of Python."""


class Real(float):
    """A subclass of float likewise."""


class Asked(float):
    """One that names another number, which NumPy takes."""

    def __float__(self) -> float:
        return 7.5


BESIDE_SINGLE = [Real(2.5), Asked(2.5), Whole(3), True, 2.5, np.float32(3.0)]


@pytest.mark.parametrize("v", BESIDE_SINGLE, ids=lambda v: type(v).__name__)
def test_operators_and_ufuncs_promote_numbers_alike(v: Any) -> None:
    x = np.array([1.5, -0.5], np.float32)
    for f in (lambda x: x * v, lambda x: v * x, lambda x: np.multiply(x, v)):
        y, pullback = vjp(f, x)
        assert y.dtype == f(x).dtype
        np.testing.assert_array_equal(y, f(x))
        slope = 7.5 if isinstance(v, Asked) else float(v)
        np.testing.assert_array_equal(pullback(np.ones_like(y))[0], np.full(2, slope, np.float32))


@pytest.mark.parametrize("multiply", [lambda x, v: x * v, np.multiply], ids=["operator", "ufunc"])
def test_a_buffer_that_a_product_has_read_may_change(multiply: Any) -> None:
    def f(x: Any) -> Any:
        weights = array.array("d", [1.0, 2.0, 3.0])
        y = multiply(x, weights)
        weights[0] = 9.0
        return y.sum()

    np.testing.assert_array_equal(grad(f)(np.ones(3)), [1.0, 2.0, 3.0])


TWICE = {
    "dot": lambda v, x: np.dot(v, x),
    "dot from the right": lambda v, x: np.dot(x, v),
    "method": lambda v, x: x.dot(v),
    "inner": lambda v, x: np.inner(v, x),
    "vdot": lambda v, x: np.vdot(v, x),
    "correlate": lambda v, x: np.correlate(v, x).sum(),
    "both": lambda v, x: np.dot(v, v),
    "matmul": lambda v, x: np.matmul(v, x),
    "outer": lambda v, x: np.outer(v, x).sum(),
    "convolve": lambda v, x: np.convolve(v, x).sum(),
    "tensordot": lambda v, x: np.tensordot(v, x, 1),
}


@pytest.mark.parametrize("name", TWICE)
def test_operands_are_converted_as_often_as_numpy_does(name: str) -> None:
    class Counted:
        calls = 0

        def __init__(self, x: Any) -> None:
            self.x = x

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            Counted.calls += 1
            return self.x * 1.0

    def f(x: Any) -> Any:
        Counted.calls = 0
        return TWICE[name](Counted(x), x) * Counted.calls

    plain, expected = f(X.copy()), differences(f)
    every: Any = ({}, {"debug": True}, {"mode": "forward"})
    for options in every:
        value, found = value_and_grad(f, **options)(X.copy())
        np.testing.assert_allclose(value, plain, rtol=1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-7)
