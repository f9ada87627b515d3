"""What the cases of the family `math_functions` do not show."""

from __future__ import annotations

import cmath
import math
import statistics
from collections import deque
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp, value_and_grad


def test_distances_of_points_of_two_precisions() -> None:
    g, h = grad(lambda v: math.dist([np.float32(0.5), v[0]], [v[1], 0.25]))([1.5, 0.1])
    length = math.hypot(0.4, 1.25)
    assert g == pytest.approx(1.25 / length, rel=1e-14)
    assert h == pytest.approx(-0.4 / length, rel=1e-14)


class Doubling(list[Any]):
    def __iter__(self) -> Any:
        return (2.0 * v for v in super().__iter__())


class DoublingTuple(tuple[Any, ...]):  # whose items C reads past its methods
    __slots__ = ()

    def __iter__(self) -> Any:
        return (2.0 * v for v in super().__iter__())


class Doubled:
    def __init__(self, *values: Any) -> None:
        self.values = values

    def __iter__(self) -> Any:
        return iter([2.0 * v for v in self.values])


POINTS = {
    "list": (lambda a, b: Doubling([a, b]), 2),
    "tuple": (lambda a, b: DoublingTuple((a, b)), 1),
    "object": (Doubled, 2),
    "generator": (lambda a, b: (2.0 * v for v in (a, b)), 2),
    "deque": (lambda a, b: deque([a, b]), 1),
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("debug", [False, True])
def test_distances_of_points_that_run_code_to_be_read(name: str, debug: bool) -> None:
    make, k = POINTS[name]
    x = np.array([3.0, 4.0])
    for f in (
        lambda x: math.dist(make(x[0], x[1]), [0.0, 0.0]),
        lambda x: math.dist((0.0, 0.0), make(x[0], x[1])),
    ):
        value, g = value_and_grad(f, debug=debug)(x)
        assert value == 5.0 * k
        assert g.tolist() == pytest.approx([0.6 * k, 0.8 * k], rel=1e-14)
        assert jvp(f, (x,), (np.ones(2),))[1] == pytest.approx(1.4 * k, rel=1e-14)
    with pytest.raises(TypeError, match="must be real number, not str"):
        grad(lambda x: math.dist(make(x, x), "12"), debug=debug)(1.0)


NUMBERS = [np.complex128(0.4 + 0.2j), np.complex64(0.4 + 0.2j), np.clongdouble(0.4 + 0.2j)]
NUMBERS += [np.float32(0.4), np.float16(0.4), np.longdouble(0.4), np.array(0.4)]
OF_ONE = [math.acos, math.asin, math.atan, math.cosh, math.erf, math.gamma, math.lgamma, math.log]
OF_TWO = [math.atan2, math.fmod, math.hypot, math.log, math.pow, math.remainder]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("z", NUMBERS, ids=lambda z: f"{type(z).__name__}")
@pytest.mark.parametrize("debug", [False, True])
def test_other_numbers_are_floats_to_functions_of_math(z, debug: bool) -> None:
    calls = [(f, lambda x, f=f: f(x)) for f in OF_ONE]
    calls += [(f, lambda x, f=f: f(x, 0.7)) for f in OF_TWO]
    calls += [(f, lambda x, f=f: f(0.7, x)) for f in OF_TWO]
    if not isinstance(z, np.complexfloating):
        calls += [(f, lambda x, f=f: f(x, Decimal("0.7"))) for f in OF_TWO]
    value = float(np.real(z))
    eps = float(np.finfo(z.dtype).eps)
    for f, call in calls:
        expected = grad(lambda x, call=call: call(x))(value)
        found = grad(lambda x, call=call: call(x), debug=debug)(z)
        y, slope = jvp(lambda x, call=call: call(x), (z,), (z.dtype.type(1),))
        assert type(y) is float, f
        assert y == call(value), f
        assert np.real(found) == pytest.approx(expected, rel=2 * eps), f
        assert np.imag(found) == 0.0, f
        assert slope == pytest.approx(expected, rel=1e-12), f


def test_the_warning_of_a_lost_imaginary_part_is_that_of_the_plain_call() -> None:
    for derivative in (grad(math.sin), lambda z: jvp(math.sin, (z,), (z,))):
        with pytest.warns(np.exceptions.ComplexWarning):
            derivative(np.complex128(0.4 + 0.2j))
    with pytest.raises(TypeError, match="must be real number, not complex"):
        grad(math.sin)(0.4 + 0.2j)


COMPLEX = [np.complex64(0.4 + 0.2j), np.clongdouble(0.4 + 0.2j), np.longdouble(0.4)]
COMPLEX += [np.float32(0.4), np.array(0.4 + 0.2j)]


@pytest.mark.parametrize("z", COMPLEX, ids=lambda z: f"{type(z).__name__}")
@pytest.mark.parametrize("debug", [False, True])
def test_other_numbers_are_complex_to_functions_of_cmath(z, debug: bool) -> None:
    for f in (cmath.cos, cmath.sinh, cmath.atan, cmath.phase, lambda z: cmath.log(z, 2)):

        def real(z, f=f):
            return f(z).real

        value = complex(z) if np.iscomplexobj(z) else float(z)
        expected = grad(real)(value)
        eps = float(np.finfo(z.dtype).eps)
        assert complex(grad(real, debug=debug)(z)) == pytest.approx(expected, rel=2 * eps)
        y, slope = jvp(real, (z,), (z.dtype.type(1),))
        assert y == real(value)
        assert slope == pytest.approx(np.real(expected), rel=1e-12)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_polar_coordinates_are_real() -> None:
    z = np.complex128(0.4 + 0.2j)
    for f in (lambda v: cmath.rect(v, 0.3).real, lambda v: cmath.rect(0.3, v).imag):
        assert grad(f)(z) == grad(f)(0.4)
        assert jvp(f, (z,), (np.complex128(1),))[1] == grad(f)(0.4)


class Path:
    """An object that is one thing to iterate over, and another as an array."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Any:
        return iter([5.0 * v for v in self.x])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.x


class Weight:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __float__(self) -> float:
        return 5.0 * self.x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.x)


ITERATING = {
    "fsum": math.fsum,
    "prod": math.prod,
    "dist": lambda v: math.dist(v, [0.0, 0.0]),
    "dist to": lambda v: math.dist((0.0, 0.0), v),
    "fmean": statistics.fmean,
    "mean": statistics.mean,
    "stdev": statistics.stdev,
}


@pytest.mark.parametrize("name", ITERATING)
@pytest.mark.parametrize("make", [Path, lambda x: [Weight(x[0]), Weight(x[1])]])
def test_functions_that_iterate_ask_for_no_array(make: Any, name: str) -> None:
    x = np.array([3.0, 4.0])
    run = ITERATING[name]
    if make is not Path and name not in ("fsum", "fmean"):
        return  # the others take numbers alone, and `math.dist` of lists does here

    def as_numbers(x: Any) -> Any:
        return run([5.0 * x[0], 5.0 * x[1]])

    every: Any = ({}, {"debug": True}, {"mode": "forward"})
    for options in every:
        value, g = value_and_grad(lambda x: run(make(x)) * 1.0, **options)(x.tolist())
        expected, h = value_and_grad(lambda x: as_numbers(x) * 1.0)(x.tolist())
        assert value == pytest.approx(expected, rel=1e-14)
        assert g == pytest.approx(h, rel=1e-14)


@pytest.mark.parametrize("f", [
    lambda v: abs(cmath.sin(v)), lambda v: cmath.exp(v).real, lambda v: cmath.polar(v)[0],
    lambda v: cmath.rect(v, 0.3).real,
])  # fmt: skip
def test_functions_of_cmath_ask_for_no_array(f: Any) -> None:
    value, slope = value_and_grad(lambda x: f(Weight(x)))(0.3)
    expected, g = value_and_grad(f)(1.5)
    assert value == pytest.approx(expected, rel=1e-14)
    assert slope == pytest.approx(5.0 * g, rel=1e-14)


def test_an_array_is_no_real_number() -> None:
    class Array:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(())

    with pytest.raises(TypeError, match="must be real number, not Array"):
        grad(lambda x: math.fsum([x, Array()]))(1.0)


class AsFloat:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


@pytest.mark.parametrize("point", [
    lambda v: [AsFloat(v[0]), AsFloat(v[1])], lambda v: (AsFloat(v[0] * 1.0), v[1]),
])  # fmt: skip
def test_distances_of_points_of_objects_that_are_floats(point: Any) -> None:
    x, expected = np.array([4.0, 6.0]), np.array([0.6, 0.8])
    np.testing.assert_allclose(grad(lambda v: math.dist(point(v), [1.0, 2.0]))(x), expected)
    np.testing.assert_allclose(grad(lambda v: math.dist((1.0, 2.0), point(v)))(x), expected)
    y, dy = jvp(lambda v: math.dist(point(v), [1.0, 2.0]), (x,), (np.array([1.0, 2.0]),))
    np.testing.assert_allclose((y, dy), (5.0, 2.2))
